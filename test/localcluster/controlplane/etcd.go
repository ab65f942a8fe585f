package controlplane

import (
	"context"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
)

// startEtcd runs etcd in this process without fsync: the data is thrown away with the cluster. It speaks plain HTTP on
// loopback, so every user of this machine can read what the cluster holds: real secrets do not belong in it.
func startEtcd(ctx context.Context, dir, client, peer string) (string, error) {
	c := embed.NewConfig()
	c.Dir = dir
	c.LogLevel = "error"
	c.UnsafeNoFsync = true
	cu, pu := url.URL{Scheme: "http", Host: client}, url.URL{Scheme: "http", Host: peer}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{cu}, []url.URL{cu}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{pu}, []url.URL{pu}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	e, err := embed.StartEtcd(c)
	if err != nil {
		return "", fmt.Errorf("start etcd on %s: %w", client, err)
	}
	select {
	case <-e.Server.ReadyNotify():
		return cu.String(), nil
	case err := <-e.Err():
		return "", fmt.Errorf("etcd on %s: %w", client, err)
	case <-ctx.Done():
		e.Close()
		return "", ctx.Err()
	}
}
