package kubestate

import (
	"context"
	"fmt"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SetAside copies the first Secret to one with another name and deletes it: the parts of a damaged
// state are worth nothing without their index, so only that makes room.
func (s *Store) SetAside(ctx context.Context) (string, error) {
	damaged, err := s.secrets.Get(ctx, s.secretName(), meta.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("set the damaged state in %s aside: %w", s.where(), err)
	}
	aside := s.secret(fmt.Sprintf("%s-damaged-%d", s.secretName(), time.Now().Unix()), map[string]string{})
	delete(aside.Labels, labelState)
	aside.Data = damaged.Data
	if _, err := s.secrets.Create(ctx, aside, meta.CreateOptions{}); err != nil {
		return "", fmt.Errorf("set the damaged state in %s aside: %w", s.where(), err)
	}
	only := fmt.Sprintf("%s=%s,!%s", labelState, s.name, labelSerial)
	if err := s.secrets.DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{LabelSelector: only}); err != nil {
		return "", fmt.Errorf("delete the damaged state in %s: %w", s.where(), err)
	}
	return "Secret " + s.namespace + "/" + aside.Name, nil
}
