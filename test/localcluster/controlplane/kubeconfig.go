package controlplane

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfig writes a kubeconfig that needs no other file: certificates are embedded, so that it can be copied.
func (p *PKI) writeKubeconfig(file, context, server, identity string) error {
	ca, err := p.CA()
	if err != nil {
		return err
	}
	crt, err := os.ReadFile(p.Path(identity + ".crt"))
	if err != nil {
		return err
	}
	key, err := os.ReadFile(p.Path(identity + ".key"))
	if err != nil {
		return err
	}
	c := api.NewConfig()
	c.Clusters[context] = &api.Cluster{Server: server, CertificateAuthorityData: ca}
	c.AuthInfos[context] = &api.AuthInfo{ClientCertificateData: crt, ClientKeyData: key}
	c.Contexts[context] = &api.Context{Cluster: context, AuthInfo: context}
	c.CurrentContext = context
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		return fmt.Errorf("kubeconfig of %s: %w", identity, err)
	}
	return nil
}
