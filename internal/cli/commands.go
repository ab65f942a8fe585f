package cli

import "github.com/spf13/cobra"

// Groups of the help page.
const (
	groupMain  = "main"
	groupBench = "bench"
	groupState = "state"
	groupOther = "other"
)

func groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: groupMain, Title: "The job:"},
		{ID: groupBench, Title: "Measuring:"},
		{ID: groupState, Title: "Configuration and state:"},
		{ID: groupOther, Title: "Other:"},
	}
}

// command is one row of the table: a group and how to build the command.
type command struct {
	group string
	build func(*app) *cobra.Command
}

// commands is the table of commands, in the order of the help page.
func commands() []command {
	return []command{
		{groupMain, (*app).initCommand},
		{groupMain, (*app).validateCommand},
		{groupMain, (*app).checkCommand},
		{groupMain, (*app).planCommand},
		{groupMain, (*app).applyCommand},
		{groupMain, (*app).runCommand},
		{groupMain, (*app).destroyCommand},
		{groupBench, (*app).reportCommand},
		{groupBench, (*app).compareCommand},
		{groupBench, (*app).benchCommand},
		{groupBench, (*app).datasetCommand},
		{groupBench, (*app).simulateCommand},
		{groupBench, (*app).calibrateCommand},
		{groupState, (*app).formatCommand},
		{groupState, (*app).graphCommand},
		{groupState, (*app).evalCommand},
		{groupState, (*app).showCommand},
		{groupState, (*app).outputCommand},
		{groupState, (*app).stateCommand},
		{groupState, (*app).importCommand},
		{groupState, (*app).forceUnlockCommand},
		{groupOther, (*app).schemaCommand},
		{groupOther, (*app).completionCommand},
		{groupOther, (*app).docsCommand},
		{groupOther, (*app).versionCommand},
	}
}
