package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/docschema"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
)

func (c Command) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented suite file to start from",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := argOr(args, defaultConfig)
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if errors.Is(err, os.ErrExist) {
				return fmt.Errorf("%w: %s is there already: name another file", flow.ErrUsage, path)
			}
			if err != nil {
				return fmt.Errorf("write %s: %w", path, err)
			}
			if _, err := f.Write(config.Default()); err != nil {
				f.Close()
				return fmt.Errorf("write %s: %w", path, err)
			}
			if err := f.Close(); err != nil {
				return fmt.Errorf("write %s: %w", path, err)
			}
			fmt.Fprintf(c.Stdout, "%s written: edit it, then `perfweir validate` and `perfweir ci`\n", path)
			return nil
		},
	}
}

func (c Command) validate() *cobra.Command {
	return &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a suite file: every problem with its place and what to write instead",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.shell().Validate(argOr(args, defaultConfig))
		},
	}
}

func (c Command) schema() *cobra.Command {
	names := append([]string{"config"}, docschema.Names()...)
	return &cobra.Command{
		Use:       "schema " + strings.Join(names, "|"),
		Short:     "Print the JSON Schema of the suite file or of a document",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := config.Schema()
			if args[0] != "config" {
				text, err = docschema.Schema(args[0])
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.Stdout, strings.TrimSpace(string(text)))
			return err
		},
	}
}

func (c Command) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version and how it was built", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(c.Stdout, "perfweir", versionText())
			return err
		},
	}
}

// release is the version of a released binary, set by the linker (.ci/release.sh):
// such a build knows neither its commit nor git's tags, so that its bytes can be
// made again.
var release string

// versionText is what the build knows of itself.
func versionText() string {
	version, revision := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
	}
	if release != "" {
		version, revision = release, ""
	}
	return fmt.Sprintf("%s%s %s %s/%s, built without NVML", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
