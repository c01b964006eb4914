//! Structures that eBPF programs and Rust share.
//!
//! Each is defined on both sides under its name, and `bpf/*_layout.h` states the offset and size of each of its fields. These lines
//! are static assertions when a program is compiled, and `build.rs` turns the same lines into assertions about the Rust structure:
//! a field that is moved, added, resized or reordered on one side only does not compile there. Numbers that both sides use
//! (lengths, bits, numbers of kinds) are taken from the same headers. `tests/object.rs` compares the committed objects with the
//! result of compiling the sources, and the tests below compare them with the maps that are read here.

/// A structure that a header describes. Only such structures are read from maps.
pub(crate) trait Layout {
    /// Its size in bytes.
    const OCTETS: usize;
}

/// Number of words in a value of a map.
pub(crate) const fn words<T: Layout>() -> usize {
    T::OCTETS / 8
}

/// Size of a field in bytes.
pub(crate) const fn octets_of<S, F>(_: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

/// True if these are the numbers from 0 upwards.
pub(crate) const fn in_order(numbers: &[u32]) -> bool {
    let mut at = 0;
    while at < numbers.len() {
        if numbers[at] as usize != at {
            return false;
        }
        at += 1;
    }
    true
}

/// Asserts that the object has these maps with values of so many bytes, and these programs.
#[cfg(test)]
pub(crate) fn assert_object_has(object: &[u8], values: &[(&str, usize)], programs: &[String]) {
    let object = aya_obj::Object::parse(object).expect("an object");
    for (name, octets) in values {
        let map = object.maps.get(*name).unwrap_or_else(|| panic!("no map {name}"));
        assert_eq!(map.value_size() as usize, *octets, "{name}");
    }
    for program in programs {
        assert!(object.programs.contains_key(program), "no program {program}");
    }
}

/// Asserts that these are all the variables that the object's programs expect to be set, with their sizes.
#[cfg(test)]
pub(crate) fn assert_variables(object: &[u8], variables: &[(&str, &[u8])]) {
    let mut object = aya_obj::Object::parse(object).expect("an object");
    let room = object.maps.get(".rodata").expect("variables").data().len();
    let octets: usize = variables.iter().map(|(_, octets)| octets.len()).sum();
    // The remaining bytes align them.
    assert!((octets..octets + 16).contains(&room), "{octets} octets of {room}");
    let set = variables.iter().map(|(name, octets)| (*name, (*octets, true)));
    object.patch_map_data(set.collect()).expect("there are such variables");
}
