package plan

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

type object = map[string]any

// Schema is the JSON schema of suite files, for editors: schema.json, with the names of a catalogue.
func Schema(cat *suite.Collection) map[string]any {
	b, err := embedded.ReadFile("schema.json")
	var schema object
	if err = cmp.Or(err, json.Unmarshal(b, &schema)); err != nil {
		panic(err) // it is embedded
	}
	perCheck := func(value object) object {
		props := object{}
		for _, name := range cat.Checks.Names() {
			props[name] = value
		}
		return object{"type": "object", "properties": props, "additionalProperties": false}
	}
	words := object{"$ref": "#/$defs/words"}
	maps.Copy(schema["$defs"].(object), object{ //nolint:forcetypeassert // schema.json has it
		"outcome": object{"enum": append(suite.Words(), Documented)},
		"checks":  perCheck(object{"enum": answerWords}),
		"classes": perCheck(object{"enum": []checker.Class{checker.Inherent, checker.Defect, checker.Undetermined}}),
		"rules":   perCheck(words),
		"sets":    object{"enum": cat.SetNames()},
		"flags":   flagSchema(cat.Catalogue, words, false),
		"globs":   flagSchema(cat.Catalogue, words, true), // or the name of a cell
	})
	return schema
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
