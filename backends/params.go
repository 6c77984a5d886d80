package backends

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Param is a parameter that may follow a name on the command line, as in NAME:key=value,key=value.
type Param = catalog.Param

// Values are the values of parameters, by name, with methods for durations, numbers and choices.
type Values = catalog.Values

// Values of [Spec].Ends: what ends a grant that is not released.
const (
	EndsNever      = history.EndsNever      // nothing: a dead holder keeps the lock
	EndsLease      = history.EndsLease      // its lease
	EndsProcess    = history.EndsProcess    // the holder's process
	EndsSession    = history.EndsSession    // the holder's session, which has a lease
	EndsConnection = history.EndsConnection // the holder's connection, whoever ends it
)
