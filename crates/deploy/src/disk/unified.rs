//! Unified kernel images (UAPI.5): the stub, an EFI program, with the kernel, its arguments and its initial root as additional sections. The file
//! format is Microsoft's PE32+.

use super::DiskError;

/// Offset in a kernel's header up to which it must exist: its magic number (Documentation/arch/x86/boot.rst).
const KERNEL_MARK: usize = 0x202;
/// Bytes of a section's header, and of the headers before the optional header.
const SECTION: usize = 40;
const COFF: usize = 24;
/// Flags of initialised, readable data.
const READ_DATA: u32 = 0x4000_0040;
/// x86-64.
const MACHINE: u16 = 0x8664;
/// An optional header of the 64-bit form.
const PE32_PLUS: u16 = 0x20b;
/// Offset of the signatures' entry in an optional header.
const SIGNATURES: usize = 112 + 4 * 8;

/// Parts of an image.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// `linuxx64.efi.stub` of systemd.
    pub stub: &'a [u8],
    /// `vmlinuz`.
    pub kernel: &'a [u8],
    /// Arguments of the kernel.
    pub arguments: &'a str,
    /// Archive that the kernel unpacks as its root.
    pub initramfs: &'a [u8],
}

/// The image.
///
/// # Errors
/// The stub or the kernel is not usable.
pub fn unified(parts: &Parts<'_>) -> Result<Vec<u8>, DiskError> {
    check_kernel(parts.kernel)?;
    let mut program = Program::read(parts.stub)?;
    // The kernel is last, because some stubs let it decompress itself beyond its end.
    for (name, content) in [
        (".cmdline", parts.arguments.as_bytes()),
        (".initrd", parts.initramfs),
        (".linux", parts.kernel),
    ] {
        program.add(name, content)?;
    }
    Ok(program.octets)
}

fn check_kernel(kernel: &[u8]) -> Result<(), DiskError> {
    if kernel.starts_with(b"\x7fELF") {
        return Err(DiskError::Kernel(
            "the unpacked vmlinux, which firmware does not start; name its vmlinuz",
        ));
    }
    let is_kernel = kernel.get(KERNEL_MARK..KERNEL_MARK + 4) == Some(b"HdrS");
    match is_kernel && kernel.starts_with(b"MZ") {
        true => Ok(()),
        false => Err(DiskError::Kernel(
            "no vmlinuz for x86-64 that firmware starts (CONFIG_EFI_STUB)",
        )),
    }
}

/// An EFI program to which sections are added.
struct Program {
    octets: Vec<u8>,
    /// Offset of its headers.
    at: usize,
    /// Offset of the headers of its sections.
    sections: usize,
}

impl Program {
    fn read(stub: &[u8]) -> Result<Self, DiskError> {
        let wrong = DiskError::Stub("no EFI program for x86-64; systemd's is linuxx64.efi.stub");
        let mut this = Self {
            octets: stub.to_vec(),
            at: 0,
            sections: 0,
        };
        let found = this.word(0x3c).filter(|_| stub.starts_with(b"MZ"));
        this.at = found.ok_or_else(|| wrong.clone())? as usize;
        let is_program = stub.get(this.at..this.at + 4) == Some(b"PE\0\0")
            && this.half(this.at + 4) == Some(MACHINE)
            && this.half(this.at + COFF) == Some(PE32_PLUS);
        let optional = this.half(this.at + 20).filter(|_| is_program);
        this.sections = this.at + COFF + usize::from(optional.ok_or_else(|| wrong.clone())?);
        let headers = this.headers_end().ok_or_else(|| wrong.clone())?;
        if this.count() == 0 || stub.len() < headers || this.alignments().is_none() {
            return Err(wrong);
        }
        if this.word(this.at + COFF + SIGNATURES) != Some(0) {
            return Err(DiskError::Stub(
                "it is signed, and a change would break its signature; use the unsigned one",
            ));
        }
        Ok(this)
    }

    fn add(&mut self, name: &str, content: &[u8]) -> Result<(), DiskError> {
        let count = self.count();
        let header = self.sections + count * SECTION;
        let room = self.headers_end().unwrap_or(0);
        let wrong = DiskError::Stub("its headers cannot be read");
        if header + SECTION > room || self.octets[header..header + SECTION].iter().any(|octet| *octet != 0) {
            return Err(DiskError::Stub("its header has no room for another section"));
        }
        let (memory, file) = self.alignments().ok_or_else(|| wrong.clone())?;
        let size = u32::try_from(content.len()).map_err(|_| too_large(content.len()))?;
        let place = self
            .end_in_memory()
            .ok_or_else(|| wrong.clone())?
            .next_multiple_of(memory);
        let end = place.checked_add(size).ok_or_else(|| too_large(content.len()))?;
        self.align(file);
        let at = u32::try_from(self.octets.len()).map_err(|_| too_large(content.len()))?;
        self.octets.extend_from_slice(content);
        self.align(file);
        let stored = u32::try_from(self.octets.len()).map_err(|_| too_large(content.len()))? - at;

        self.octets[header..header + name.len()].copy_from_slice(name.as_bytes());
        for (offset, value) in [(8, size), (12, place), (16, stored), (20, at), (36, READ_DATA)] {
            self.set(header + offset, value);
        }
        let number = u16::try_from(count + 1).map_err(|_| wrong)?;
        self.octets[self.at + 6..self.at + 8].copy_from_slice(&number.to_le_bytes());
        self.set(self.at + COFF + 56, end.next_multiple_of(memory));
        // Nothing verifies the checksum of an EFI program; zero means none, a wrong one would be worse.
        self.set(self.at + COFF + 64, 0);
        Ok(())
    }

    fn align(&mut self, to: u32) {
        self.octets.resize(self.octets.len().next_multiple_of(to as usize), 0);
    }

    fn count(&self) -> usize {
        self.half(self.at + 6).map_or(0, usize::from)
    }

    /// Alignment of addresses in memory and in the file; `None` if one is zero.
    fn alignments(&self) -> Option<(u32, u32)> {
        let (memory, file) = (self.word(self.at + COFF + 32)?, self.word(self.at + COFF + 36)?);
        let is_power = |value: u32| value.is_power_of_two() && value <= 1 << 20;
        (is_power(memory) && is_power(file)).then_some((memory, file))
    }

    fn headers_end(&self) -> Option<usize> {
        self.word(self.at + COFF + 60).map(|end| end as usize)
    }

    fn end_in_memory(&self) -> Option<u32> {
        let ends = (0..self.count()).map(|number| {
            let header = self.sections + number * SECTION;
            self.word(header + 8)?.checked_add(self.word(header + 12)?)
        });
        ends.collect::<Option<Vec<u32>>>()?.into_iter().max()
    }

    fn half(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.octets.get(at..at + 2)?.try_into().ok()?))
    }

    fn word(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.octets.get(at..at + 4)?.try_into().ok()?))
    }

    fn set(&mut self, at: usize, value: u32) {
        self.octets[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
}

fn too_large(octets: usize) -> DiskError {
    DiskError::TooLarge { octets: octets as u64 }
}
