package plan

import (
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

type object = map[string]any

// Schema is the JSON schema of suite files, for editors: with the names of a catalogue.
func Schema(cat *suite.Collection) map[string]any {
	word := object{"type": []string{"string", "number", "integer", "boolean"}}
	words := object{"anyOf": []any{word, object{"type": "array", "items": word, "minItems": 1}}}
	var outcomes []string
	for _, w := range suite.Words() {
		outcomes = append(outcomes, string(w))
	}
	perCheck := func(value object) object {
		props := object{}
		for _, name := range cat.Checks.Names() {
			props[name] = value
		}
		return object{"type": "object", "properties": props, "additionalProperties": false}
	}
	classes := object{"enum": []checker.Class{checker.Inherent, checker.Defect, checker.Undetermined}}
	rule := object{
		"outcome": object{"enum": append(outcomes, Documented), "description": "the expected outcome of each run (docs/suite.md " +
			"explains the possible outcomes)"},
		"checks":     described(perCheck(object{"enum": answerWords}), "the expected results of single checks"),
		"exit":       described(words, "the exit codes that a run may end with, in place of an outcome; `any`: every exit code"),
		"classes":    described(perCheck(classes), "the class of all findings of a check"),
		"rules":      described(perCheck(words), "rules that a check must find, as results.json names them"),
		"figures":    described(words, "limits of figures of each run, as results.json names them, for example wait_p99_ns <= 2s"),
		"thresholds": described(words, "limits of figures (measured values), for example acquire.p99 < 50ms or recovery < 2*ttl"),
	}
	seeds := object{"anyOf": []any{
		object{"type": "integer", "minimum": 1, "maximum": maxSeeds},
		object{"type": "array", "items": object{"type": "integer", "minimum": 1}, "minItems": 1, "uniqueItems": true},
	}, "description": "the seeds of the runs: a number n means the seeds 1 to n; a list contains single seeds"}
	run := flagSchema(cat.Catalogue, words, false)
	with := func(more object) object {
		out := maps.Clone(rule)
		maps.Copy(out, more)
		return out
	}
	ofUser := object{"^x-": object{}}
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "a suite of lockstorm", "type": "object",
		"additionalProperties": false,
		"patternProperties":    ofUser,
		"anyOf":                []any{object{"required": []string{"axes"}}, object{"required": []string{"include"}}},
		"properties": object{
			"name": object{"type": "string", "maxLength": maxName, "pattern": `^[^./\\][^/\\]*$`}, "doc": object{"type": "string"},
			"seeds": seeds,
			"compare": object{"type": "boolean", "description": "`true`: the suite compares the locks, and only the controls (runs " +
				"with a known outcome) have an expected outcome"},
			"budget": object{"type": "string", "description": "a duration after which the suite starts no more runs"},
			"missing": object{"enum": []string{Fail, Skip}, "description": "what the suite does with cells whose servers are missing " +
				"on this host"},
			"impossible": object{"enum": []string{Fail, Skip}, "description": "what the suite does with a backend and a fault that " +
				"cannot work together"},
			"run": described(run, "flags of lockstorm run that apply to every cell of `axes`, and to every entry of `include` "+
				"that has the key `run`"),
			"axes": described(flagSchema(cat.Catalogue, words, true), "flags of lockstorm run, each with a list of values: every "+
				"combination of values is a cell"),
			"include": object{"type": "array", "items": object{
				"type": "object", "additionalProperties": false,
				"patternProperties": ofUser, "properties": with(object{
					"source": described(word, "who said so, as a link"),
					"axes": described(flagSchema(cat.Catalogue, words, false), "flags of lockstorm run, each with a list of values: one cell "+
						"for each combination; in `name`, {FLAG} stands for the value"),
					"cases": object{"enum": cat.SetNames()}, "only": words, "name": object{"type": "string"}, "doc": object{"type": "string"},
					"run": run, "seeds": seeds,
					"explore": object{"type": "object", "additionalProperties": false, "description": "search for violations with many runs, " +
						"in place of one run; the search chooses the faults, their moments and the workload", "properties": object{
						"for":     object{"type": "string", "description": "how long the search runs, for example 30s (default 1m)"},
						"only":    described(words, "the search injects only the faults of this list"),
						"without": described(words, "the search never injects the faults of this list"),
						"vary":    described(words, "options of the lock that the search also varies; `all`: every option"),
					}},
					"trial": object{"type": "string", "description": "repeats a saved run; the value is the path of the run's trial.json, or " +
						"of its directory, relative to this file"},
				}),
			}},
			"exclude": object{"type": "array", "items": flagSchema(cat.Catalogue, words, true)},
			"expect": object{"type": "array", "items": object{
				"type": "object", "additionalProperties": false,
				"patternProperties": ofUser, "properties": with(object{"of": flagSchema(cat.Catalogue, words, true)}),
			}},
			"thresholds": rule["thresholds"],
			"coverage": object{"type": "object", "additionalProperties": false, "properties": object{
				"backends": words, "nemeses": words, "exposures": object{"type": "integer", "minimum": 1},
			}},
		},
	}
}

func described(s object, text string) object {
	out := object{"description": text}
	maps.Copy(out, s)
	return out
}

// flagSchema is a mapping of flags of run; names are offered, and anything with parameters is allowed.
func flagSchema(cat *harness.Catalogue, words object, many bool) object {
	props := object{}
	for _, flag := range runFlags() {
		props[flag] = words
	}
	for flag, names := range map[string][]string{
		"backend": cat.Backends.Names(), "nemesis": cat.Nemeses.Names(), "workload": cat.Workloads.Names(),
		"topology": cat.Topologies.Names(),
	} {
		one := object{"anyOf": []any{
			object{"enum": append(slices.Clone(names), "all")},
			object{"type": "string", "pattern": `[:*?+\[]`},
		}}
		props[flag] = object{"anyOf": []any{one, object{
			"type":  "array",
			"items": object{"anyOf": []any{one, object{"type": "array", "items": one}}},
		}}}
	}
	if many {
		props["name"] = words
	}
	return object{"type": "object", "additionalProperties": false, "properties": props}
}
