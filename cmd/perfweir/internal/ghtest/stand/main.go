// Stand is the fake of GitHub's API as a program, for runs end to end: act runs
// the real action against it and leaves artifacts in a folder that it serves.
//
//	stand -api 127.0.0.1:7100 -blob 127.0.0.1:7101 -artifacts DIR -state FILE.json -log FILE.jsonl
//
// The state file is a ghtest.State; it is read once. While the stand runs, its
// state, faults, requests and violations are at /_stand/ on the API listener (see
// package ghtest, control.go). It prints a line when it listens, and one for each
// violation when it ends, with exit code 1 then.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "stand:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o := ghtest.Options{Control: true}
	flags := flag.NewFlagSet("stand", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.API, "api", "127.0.0.1:7100", "address of the API")
	flags.StringVar(&o.Blob, "blob", "127.0.0.1:7101", "address of the blob host")
	flags.StringVar(&o.BasePath, "base-path", "", "path that the API is below, as /api/v3")
	flags.StringVar(&o.Artifacts, "artifacts", "", "folder of act's artifact server")
	stateFile := flags.String("state", "", "state to begin with, JSON")
	logFile := flags.String("log", "", "file that gets a line of JSON for each request")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *stateFile != "" {
		b, err := os.ReadFile(*stateFile)
		if err != nil {
			return err
		}
		if o.State, err = ghtest.ParseState(b); err != nil {
			return fmt.Errorf("%s: %w", *stateFile, err)
		}
	}
	if *logFile != "" {
		f, err := os.OpenFile(*logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		defer func() { err = firstOf(err, f.Close()) }()
		o.Log = f
	}
	return serve(ctx, o, stdout)
}

func serve(ctx context.Context, o ghtest.Options, stdout io.Writer) error {
	s, err := ghtest.Start(o)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "api %s blob %s\n", s.URL(), s.BlobURL())
	<-ctx.Done()
	s.Close()
	broken := s.Violations()
	for _, v := range broken {
		fmt.Fprintln(stdout, v)
	}
	if len(broken) > 0 {
		return fmt.Errorf("%d violations", len(broken))
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
