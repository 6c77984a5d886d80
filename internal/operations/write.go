package operations

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"olympos.io/encoding/edn"
)

// Step is an event to be written. A history is written in the order in which it happened.
type Step struct {
	Type    string
	F       string
	Process int
	Key     string // written as [key value] where the history is keyed
	Client  string
	Fence   *int64 // nil: none
	Time    int64
}

// WriteJepsen writes steps as Jepsen's history.edn: one map in each line.
func WriteJepsen(w io.Writer, steps []Step, keyed bool) error {
	b := bufio.NewWriter(w)
	for i, s := range steps {
		client, err := edn.Marshal(s.Client)
		if err != nil {
			return err
		}
		value := fmt.Sprintf("{:client %s}", client)
		if s.Fence != nil {
			value = fmt.Sprintf("{:client %s, :fence %d}", client, *s.Fence)
		}
		if keyed {
			key, err := edn.Marshal(s.Key)
			if err != nil {
				return err
			}
			value = fmt.Sprintf("[%s %s]", key, value)
		}
		fmt.Fprintf(b, "{:index %d, :time %d, :type :%s, :process %d, :f :%s, :value %s}\n", i, s.Time, s.Type, s.Process, s.F, value)
	}
	return b.Flush()
}

// PorcupineOperation is porcupine.Operation as JSON; Return of an operation of unknown outcome is after all others.
type PorcupineOperation struct {
	ClientID int             `json:"ClientId"`
	Input    PorcupineInput  `json:"Input"`
	Call     int64           `json:"Call"`
	Output   PorcupineOutput `json:"Output"`
	Return   int64           `json:"Return"`
}

// PorcupineInput is what was asked for.
type PorcupineInput struct {
	F      string `json:"f"`
	Key    string `json:"key"`
	Client string `json:"client"`
}

// PorcupineOutput is how it ended. An operation that failed is not written: it did not happen.
type PorcupineOutput struct {
	Unknown bool   `json:"unknown"`
	Fence   *int64 `json:"fence,omitempty"`
}

// WritePorcupine writes steps as a JSON array of operations. Call and Return are places in the order of events, so that
// no two are equal.
func WritePorcupine(w io.Writer, steps []Step) error {
	ops := []PorcupineOperation{}
	open := map[int]PorcupineOperation{}
	for i, s := range steps {
		switch s.Type {
		case Invoke:
			open[s.Process] = PorcupineOperation{
				ClientID: s.Process, Input: PorcupineInput{F: s.F, Key: s.Key, Client: s.Client},
				Call: int64(i), Return: int64(len(steps)), Output: PorcupineOutput{Unknown: true},
			}
		case OK:
			o := open[s.Process]
			delete(open, s.Process)
			o.Return, o.Output = int64(i), PorcupineOutput{Fence: s.Fence}
			ops = append(ops, o)
		case Fail:
			delete(open, s.Process)
		}
	}
	for _, s := range steps {
		if o, ok := open[s.Process]; ok && s.Type == Invoke && o.Input.F == s.F {
			ops = append(ops, o)
			delete(open, s.Process)
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(ops)
}
