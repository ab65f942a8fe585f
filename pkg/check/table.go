package check

// All is the table of checks, in the order of their codes. A new check is one file and one
// row; codes of removed checks are not used again.
func All() []Check {
	return []Check{
		pluginUndeclared(),
		pluginDuplicate(),
		pluginUnknownType(),
		pluginParameter(),
		pluginParameterForm(),
		pickerField(),
		profileHandler(),
		profileExpected(),
		profileDuplicate(),
		profilePickers(),
		profileIgnored(),
		pluginUnused(),
		profileOrder(),
		profileWeight(),
		scorerBlind(),
		scorerPrefix(),
		requestTimeout(),
		chartValues(),
		gatewayName(),
		gatewayClass(),
		poolLabels(),
		poolName(),
		poolPorts(),
		templateField(),
		containerName(),
		extraArgs(),
		pullSecret(),
		hostPath(),
		placeholder(),
		rdma(),
		pdPair(),
		contextLength(),
		concurrency(),
		nameLength(),
		secretWriters(),
		secretAwaited(),
	}
}
