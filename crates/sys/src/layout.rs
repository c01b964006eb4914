//! Structures shared with the kernel, or with a program in it.
//!
//! Each is written once, as a structure with `repr(C)`. Tests have a C compiler compare the kernel's structures with `linux/bpf.h`.

/// Size of a field in bytes.
pub(crate) const fn octets_of<S, F>(_: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

/// Lists name, offset and bytes of fields of a structure, under their own names or their C names.
macro_rules! places {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    ($of:ty: $($field:ident $(= $name:literal)?),*) => {
        [$((
            $crate::layout::places!(@name $field $($name)?),
            std::mem::offset_of!($of, $field),
            $crate::layout::octets_of(|it: &$of| &it.$field),
        )),*]
    };
}
pub(crate) use places;

/// Has the C compiler assert that the kernel's structure has these fields.
pub(crate) fn assert_as_in_kernel(structure: &str, fields: &[(&str, usize, usize)]) {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let rows = fields.iter().map(|(name, at, octets)| {
        format!(
            "_Static_assert(__builtin_offsetof({structure}, {name}) == {at}, \"place of {name}\");\n\
             _Static_assert(sizeof((({structure} *)0)->{name}) == {octets}, \"octets of {name}\");\n"
        )
    });
    let source = format!("#include <linux/bpf.h>\n{}", rows.collect::<String>());
    let compiler = Command::new("cc")
        .args(["-fsyntax-only", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    // Without a C compiler, nothing here could have been linked.
    let mut compiler = compiler.expect("cc");
    let mut input = compiler.stdin.take().expect("a pipe");
    input.write_all(source.as_bytes()).expect("read by the compiler");
    drop(input);
    let output = compiler.wait_with_output().expect("its end");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
