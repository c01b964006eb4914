//! Additional data that some hypervisors need for a disk: VMware a text file, Hyper-V a footer of 512 bytes.

use super::{Identity, SECTOR};

/// The text that describes a disk of this size in the file `flat` (VMware, Virtual Disk Format 1.1, `monolithicFlat`).
pub fn vmdk(identity: &Identity, size: u64, flat: &str) -> String {
    let sectors = size / SECTOR;
    // Geometry that VMware uses for disks on its SCSI adapters.
    let (heads, per_track) = (255, 63);
    let cylinders = sectors / (heads * per_track);
    format!(
        "# Disk DescriptorFile\nversion=1\nencoding=\"UTF-8\"\nCID={:08x}\nparentCID=ffffffff\ncreateType=\"monolithicFlat\"\n\n\
         # Extent description\nRW {sectors} FLAT \"{flat}\" 0\n\n\
         # The Disk Data Base\n#DDB\n\nddb.virtualHWVersion = \"13\"\nddb.geometry.cylinders = \"{cylinders}\"\n\
         ddb.geometry.heads = \"{heads}\"\nddb.geometry.sectors = \"{per_track}\"\nddb.adapterType = \"lsilogic\"\n",
        // All ones would mean that it has a parent without content.
        identity.number("vmdk") & 0x7fff_ffff,
    )
}

/// The footer after a disk of this size in a fixed VHD (Microsoft, Virtual Hard Disk Image Format Specification 1.0).
pub fn vhd_footer(identity: &Identity, size: u64) -> Vec<u8> {
    let mut octets = b"conectix".to_vec();
    octets.extend(2_u32.to_be_bytes());
    octets.extend(0x0001_0000_u32.to_be_bytes());
    octets.extend(u64::MAX.to_be_bytes());
    // Created at the first possible time: a constant, so that output is reproducible.
    octets.extend([0; 4]);
    // With this creator name readers use the size field; with unknown ones they multiply cylinders, heads and sectors.
    octets.extend(b"win ");
    octets.extend(0x000a_0000_u32.to_be_bytes());
    octets.extend(b"Wi2k");
    octets.extend(size.to_be_bytes());
    octets.extend(size.to_be_bytes());
    let (cylinders, heads, per_track) = geometry(size / SECTOR);
    octets.extend(cylinders.to_be_bytes());
    octets.extend([heads, per_track]);
    octets.extend(2_u32.to_be_bytes());
    let sum_at = octets.len();
    octets.extend([0; 4]);
    octets.extend(identity.uuid("vhd"));
    octets.resize(SECTOR as usize, 0);
    let sum = octets
        .iter()
        .fold(0_u32, |sum, octet| sum.wrapping_add(u32::from(*octet)));
    octets[sum_at..sum_at + 4].copy_from_slice(&(!sum).to_be_bytes());
    octets
}

/// Cylinders, heads, and sectors per track, by the specification's appendix.
fn geometry(sectors: u64) -> (u16, u8, u8) {
    let sectors = sectors.min(65535 * 16 * 255);
    let (mut per_track, mut heads, mut tracks);
    if sectors >= 65535 * 16 * 63 {
        (per_track, heads) = (255, 16);
        tracks = sectors / per_track;
    } else {
        per_track = 17;
        tracks = sectors / per_track;
        heads = tracks.div_ceil(1024).max(4);
        if tracks >= heads * 1024 || heads > 16 {
            (per_track, heads) = (31, 16);
            tracks = sectors / per_track;
        }
        if tracks >= heads * 1024 {
            (per_track, heads) = (63, 16);
            tracks = sectors / per_track;
        }
    }
    ((tracks / heads) as u16, heads as u8, per_track as u8)
}
