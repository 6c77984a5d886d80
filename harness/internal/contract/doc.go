// Package contract holds every backend of the catalogue to the contract of package backends, on each of its topologies and with
// each provider. It has only tests.
package contract
