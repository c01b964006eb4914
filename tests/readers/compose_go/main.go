// Reads compose files together, as `docker compose config` does, and prints what they come to as JSON.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithName("relay"))
	refuse(err)
	project, err := options.LoadProject(context.Background())
	refuse(err)
	merged, err := project.MarshalJSON()
	refuse(err)
	fmt.Println(string(merged))
}

func refuse(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
