module github.com/lockstorm/lockstorm/adapters/go/flock

go 1.24

require github.com/lockstorm/lockstorm/adapters/go/lockstorm v0.0.0

replace github.com/lockstorm/lockstorm/adapters/go/lockstorm => ../lockstorm
