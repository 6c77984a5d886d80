module github.com/lockstorm/lockstorm/adapters/go/rueidislock

go 1.25.0

require (
	github.com/lockstorm/lockstorm/adapters/go/lockstorm v0.0.0
	github.com/redis/rueidis v1.0.79
)

require golang.org/x/sys v0.47.0 // indirect

replace github.com/lockstorm/lockstorm/adapters/go/lockstorm => ../lockstorm
