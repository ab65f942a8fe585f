package check

import (
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// Model is a configuration as the checks see it, made once for all of them so that their cost
// grows with the size of the configuration and no faster.
type Model struct {
	*config.Config
	schedulers  []scheduler
	pickers     []picker
	services    []service
	gateways    []gateway
	credentials []config.Resource
	namespaces  map[string]config.Resource
	byPool      map[place][]service
	byGateway   map[place][]scheduler
	gatewayAt   map[place]gateway
	byAddress   map[resource.Address]gateway
}

// place is a name in a namespace.
type place struct{ namespace, name string }

// gateway is a gateway block; the Gateway is the last of a block's objects.
type gateway struct {
	place
	resource config.Resource
	class    string
}

func (m *Model) addGateway(r config.Resource, o *kinds.Gateway) {
	id := r.Objects[len(r.Objects)-1].ID
	g := gateway{place: place{id.Namespace, id.Name}, resource: r, class: o.Class}
	m.gateways = append(m.gateways, g)
	m.gatewayAt[g.place], m.byAddress[r.Address] = g, g
}

// New makes the model of a configuration that has loaded without errors.
func New(c *config.Config) *Model {
	m := &Model{
		Config: c, namespaces: map[string]config.Resource{},
		byPool: map[place][]service{}, byGateway: map[place][]scheduler{},
		gatewayAt: map[place]gateway{}, byAddress: map[resource.Address]gateway{},
	}
	for _, r := range c.Resources {
		if len(r.Objects) == 0 {
			continue
		}
		switch o := r.Options.(type) {
		case *kinds.Gateway:
			m.addGateway(r, o)
		case *kinds.ECRCredentials:
			m.credentials = append(m.credentials, r)
		case *kinds.Namespace:
			m.namespaces[o.Name] = r
		case *kinds.InferenceService:
			m.services = append(m.services, newService(r, o))
		case *kinds.Heimdall, *kinds.HelmRelease:
			if s, ok := newScheduler(r); ok {
				m.schedulers = append(m.schedulers, s)
			}
		}
	}
	for _, e := range m.services {
		at := place{e.namespace, e.pool()}
		m.byPool[at] = append(m.byPool[at], e)
	}
	types := typesByName()
	for _, s := range m.schedulers {
		at := place{s.gatewayNamespace(), s.gatewayName()}
		m.byGateway[at] = append(m.byGateway[at], s)
		if p, ok := newPicker(s, types); ok {
			m.pickers = append(m.pickers, p)
		}
	}
	return m
}
