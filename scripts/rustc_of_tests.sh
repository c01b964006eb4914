#!/bin/sh
# The compiler as scripts/compile_tests.py has Cargo call it (RUSTC_WRAPPER): libraries are compiled as in the release, so that tests link
# what is shipped and nothing is compiled twice; test programs, with the unit tests among them, as in development.
#
# Cargo sees neither that this file changed nor these variables: what is compiled already stays as it is, and is not linted later. A
# clean clone, as `.ci/run` has it, compiles everything; `make check` lints whatever is there.
#
# TRIPTIME_OPTIMISED: packages, and how far their unit tests are optimised: " triptime-stats=2 triptime-wire=1 ".
# TRIPTIME_LINTER: what lints while it compiles, if it is to: all that is not shipped, a library by its unit tests. No warning passes.
compiler=$1
shift

is_program=
case " $* " in
# Nothing of ours: other packages, and questions to the compiler.
*" --cap-lints "* | *" --print"* | *" -vV "*) exec "$compiler" "$@" ;;
*" --test "*)
    is_program=1
    level=0
    case " $* $TRIPTIME_OPTIMISED " in
    *"/src/lib.rs "*" $CARGO_PKG_NAME="*)
        level=${TRIPTIME_OPTIMISED#* "$CARGO_PKG_NAME="}
        level=${level%% *}
        ;;
    esac
    set -- "$@" -C opt-level="$level" -C codegen-units=4 -C debug-assertions=on -C overflow-checks=on -C strip=none
    ;;
*" --crate-name triptime "*) ;;
*" --crate-type bin "*) is_program=1 ;;
esac

[ -z "$TRIPTIME_LINTER" ] && exec "$compiler" "$@"
[ -z "$is_program" ] && exec "$compiler" "$@" -D warnings
exec "$TRIPTIME_LINTER" "$compiler" "$@"
