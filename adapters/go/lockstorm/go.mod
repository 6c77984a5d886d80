module github.com/lockstorm/lockstorm/adapters/go/lockstorm

go 1.24
