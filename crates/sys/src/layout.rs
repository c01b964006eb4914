//! Structures that this side and the kernel, or a program in it, both know.
//!
//! Each stands once, as a structure with `repr(C)`. Tests have a C compiler compare those of the kernel with `linux/bpf.h`.

/// How many octets a field has.
pub(crate) const fn octets_of<S, F>(_: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

/// Name, place and octets of fields of a structure, under their own names or those that C has for them.
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
    // Without one, nothing here could have been linked.
    let mut compiler = compiler.expect("cc");
    let mut input = compiler.stdin.take().expect("a pipe");
    input.write_all(source.as_bytes()).expect("read by the compiler");
    drop(input);
    let output = compiler.wait_with_output().expect("its end");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
