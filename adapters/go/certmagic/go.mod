module github.com/lockstorm/lockstorm/adapters/go/certmagic

go 1.25.0

require (
	github.com/caddyserver/certmagic v0.25.0
	github.com/lockstorm/lockstorm/adapters/go/lockstorm v0.0.0
)

require (
	github.com/caddyserver/zerossl v0.1.3 // indirect
	github.com/klauspost/cpuid/v2 v2.3.0 // indirect
	github.com/libdns/libdns v1.1.1 // indirect
	github.com/mholt/acmez/v3 v3.1.3 // indirect
	github.com/miekg/dns v1.1.68 // indirect
	github.com/zeebo/blake3 v0.2.4 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.27.0 // indirect
	go.uber.org/zap/exp v0.3.0 // indirect
	golang.org/x/crypto v0.41.0 // indirect
	golang.org/x/mod v0.26.0 // indirect
	golang.org/x/net v0.43.0 // indirect
	golang.org/x/sync v0.16.0 // indirect
	golang.org/x/sys v0.35.0 // indirect
	golang.org/x/text v0.28.0 // indirect
	golang.org/x/tools v0.35.0 // indirect
)

replace github.com/lockstorm/lockstorm/adapters/go/lockstorm => ../lockstorm
