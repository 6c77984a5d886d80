// Empty: it lets the package declare a function whose body is in the runtime.
