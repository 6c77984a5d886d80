package nemesis

import "github.com/lockstorm/lockstorm/internal/catalog"

// Param is a parameter that may follow a name on the command line, as in NAME:key=value,key=value.
type Param = catalog.Param

// Values are the values of parameters, by name, with methods for durations, numbers and choices.
type Values = catalog.Values
