package kube

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mifbench/mifbench/pkg/deploy"
)

// publishedCA is the ConfigMap that Kubernetes puts into every namespace.
const publishedCA = "kube-root-ca.crt"

// Identify asks the server for its version and for the UID of the namespace kube-system. For a
// user who may not read that the UID stays "" and is no error (see LearnCA). It must not run
// concurrently with other calls.
func (d *Driver) Identify(ctx context.Context) (Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	err := d.retryRead(ctx, func(ctx context.Context) error {
		v, err := d.kinds.client.ServerVersionWithContext(ctx)
		if err == nil {
			d.cluster.Version = v.GitVersion
		}
		return err
	})
	if err != nil {
		return d.cluster, d.unreachable(err)
	}
	var ns *corev1.Namespace
	err = d.retryRead(ctx, func(ctx context.Context) (err error) {
		ns, err = d.typed.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		return err
	})
	switch {
	case err == nil:
		d.cluster.ID.UID = string(ns.UID)
	case !apierrors.IsForbidden(err):
		return d.cluster, fmt.Errorf("identity of the cluster (namespace %s): %w", metav1.NamespaceSystem, d.unreachable(err))
	}
	return d.cluster, nil
}

// LearnCA reads the CA by which a cluster can be known without a right to see kube-system, from
// the first of the namespaces that has it and lets the user read it. The error of one who may
// read none answers errors.Is with deploy.ErrForbidden and says which right would do. It must
// not run concurrently with other calls.
func (d *Driver) LearnCA(ctx context.Context, namespaces ...string) error {
	for _, ns := range namespaces {
		var cm *corev1.ConfigMap
		err := d.retryRead(ctx, func(ctx context.Context) (err error) {
			cm, err = d.typed.CoreV1().ConfigMaps(ns).Get(ctx, publishedCA, metav1.GetOptions{})
			return err
		})
		switch {
		case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
			continue
		case err != nil:
			return fmt.Errorf("identity of the cluster (ConfigMap %s/%s): %w", ns, publishedCA, d.unreachable(err))
		}
		if d.cluster.ID.CA, err = digestCA(cm.Data["ca.crt"]); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w: the cluster's identity cannot be told: it needs the right to get the namespace %s, or the ConfigMap %s in one of the stack's namespaces (tried: %s)",
		deploy.ErrForbidden, metav1.NamespaceSystem, publishedCA, cmp.Or(strings.Join(namespaces, ", "), "none"))
}

// digestCA is a digest of a set of PEM certificates, whatever their order and the text around them.
func digestCA(text string) (string, error) {
	var certs []string
	for rest := []byte(text); ; {
		var b *pem.Block
		if b, rest = pem.Decode(rest); b == nil {
			break
		}
		if b.Type == "CERTIFICATE" {
			certs = append(certs, string(b.Bytes))
		}
	}
	if len(certs) == 0 {
		return "", errors.New("no certificate in it")
	}
	slices.Sort(certs)
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.Join(slices.Compact(certs), "")))), nil
}
