// Package recipes reads the recipes of the docs as those would for whom they are written. It has only tests.
package recipes

import (
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// The Kubernetes recipes have no field that the API does not know, and what holds them together is the same in all places.
func TestKubernetes(t *testing.T) {
	var d appsv1.Deployment
	read(t, "workers.yaml", &d)
	if d.Kind != "Deployment" || d.Spec.Selector.MatchLabels["app"] != d.Spec.Template.Labels["app"] {
		t.Errorf("%s: its selector does not choose its pods", d.Kind)
	}
	mounted(t, d.Spec.Template.Spec)
	var j batchv1.Job
	read(t, "shards.yaml", &j)
	if j.Kind != "Job" || *j.Spec.CompletionMode != batchv1.IndexedCompletion || *j.Spec.Completions != *j.Spec.MaxFailedIndexes {
		t.Errorf("%s: %+v", j.Kind, j.Spec)
	}
	mounted(t, j.Spec.Template.Spec)
}

// The workflow is YAML, its jobs wait for each other, and the one that judges always runs.
func TestGitHub(t *testing.T) {
	var w struct {
		Jobs map[string]struct {
			Needs string           `json:"needs"`
			If    string           `json:"if"`
			Steps []map[string]any `json:"steps"`
		} `json:"jobs"`
	}
	b, err := os.ReadFile("../../docs/campaigns/github.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, &w); err != nil {
		t.Fatal(err)
	}
	if w.Jobs["work"].Needs != "start" || w.Jobs["finish"].Needs != "work" || w.Jobs["finish"].If != "always()" ||
		len(w.Jobs["start"].Steps) == 0 {
		t.Errorf("%+v", w.Jobs)
	}
}

func read(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../docs/campaigns", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(b, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// mounted wants a volume for each mount, and the other way round.
func mounted(t *testing.T, p corev1.PodSpec) {
	t.Helper()
	names := map[string]int{}
	for _, v := range p.Volumes {
		names[v.Name]++
	}
	for _, c := range p.Containers {
		for _, m := range c.VolumeMounts {
			names[m.Name]--
		}
	}
	for name, n := range names {
		if n != 0 {
			t.Errorf("volume %s is not mounted once", name)
		}
	}
}
