package election

import (
	"cmp"
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/lockstorm/lockstorm/adapters/go/lockstorm"
)

// settling is a hold whose data are annotations of the Lease. They are written with its resourceVersion, by the update that
// releases it: the API server refuses that if anybody has written the Lease meanwhile.
type settling struct {
	*hold
	leases  coordinationv1client.LeaseInterface
	name    string
	written map[string]string
}

// mine reads the Lease, which must still name us.
func (s *settling) mine() (*coordinationv1.Lease, error) {
	lease, err := s.leases.Get(context.Background(), s.name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lockstorm.ErrNotSent, err) // a read changes nothing
	}
	if holder := lease.Spec.HolderIdentity; holder == nil || *holder != s.Identity() {
		return nil, fmt.Errorf("%w: the Lease names another leader, or none", lockstorm.ErrNotHeld)
	}
	return lease, nil
}

func (s *settling) Read(register string) (string, error) {
	lease, err := s.mine()
	if err != nil {
		return "", err
	}
	return cmp.Or(lease.Annotations[register], "0"), nil
}

func (s *settling) Write(register, _, value string) error {
	s.written[register] = value
	return nil
}

// Release ends the election, which then renews no more, and writes the data and that the Lease is free.
func (s *settling) Release() error {
	s.release()
	s.cancel()
	<-s.done
	for {
		lease, err := s.mine()
		if err != nil {
			return err
		}
		if lease.Annotations == nil {
			lease.Annotations = map[string]string{}
		}
		for register, value := range s.written {
			lease.Annotations[register] = value
		}
		lease.Spec.HolderIdentity = new(string)
		// A conflict may be with a renewal of ours that was under way: then the Lease still names us.
		if _, err = s.leases.Update(context.Background(), lease, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			return err
		}
	}
}
