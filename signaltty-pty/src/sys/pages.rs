//! Pages of files that are mapped here and only read.

use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

use rustix::mm::{Advice, madvise};

/// Lets go of the pages of the program and its libraries that are mapped.
///
/// A start touches places all over a program, and the kernel maps what lies
/// around each of them. Most of it is not needed again for hours, and stays in
/// the system's cache anyway: who needs a page maps it again, for about a
/// microsecond, without reading it from the disk.
///
/// Left alone is a mapping with pages of its own, such as a debugger's
/// breakpoints.
pub fn release_program() {
    let Ok(mappings) = std::fs::read_to_string("/proc/self/smaps") else {
        return;
    };
    for range in untouched(&mappings) {
        let start = ptr::with_exposed_provenance_mut::<c_void>(range.start);
        // SAFETY: The mapping is of a file, cannot be written, and has no page
        // that differs from its file, so that whoever reads it next reads the
        // same. It stays mapped: only the loader unmaps what it maps, and the
        // kernel refuses a range that has nothing mapped.
        let _ = unsafe { madvise(start, range.len(), Advice::LinuxDontNeed) };
    }
}

/// The mappings of files, as `proc_pid_smaps(5)` has them, that cannot be
/// written and of which every page is the file's.
fn untouched(mappings: &str) -> impl Iterator<Item = Range<usize>> {
    let mut mapping = None;
    mappings.lines().filter_map(move |line| {
        if let Some(found) = header(line) {
            mapping = found;
            return None;
        }
        let own = line.strip_prefix("Anonymous:")?.trim().strip_suffix("kB")?.trim();
        mapping.take().filter(|_| own == "0")
    })
}

/// The first line of a mapping, and its range where it may be let go.
fn header(line: &str) -> Option<Option<Range<usize>>> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    let range = address(start)?..address(end)?;
    let modes = fields.next()?.as_bytes();
    // Offset and device come between.
    let inode = fields.nth(2)?;
    let only_read = modes.starts_with(b"r-") && modes.ends_with(b"p");
    Some((only_read && inode != "0").then_some(range))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap, mprotect};

    use super::*;

    #[test]
    fn what_has_pages_of_its_own_is_left_alone() {
        let mappings = "\
55fc0e5c6000-55fc0e9d8000 r--p 00000000 fe:00 10093537                   /usr/bin/a b (deleted)
Size:               4168 kB
Anonymous:             0 kB
VmFlags: rd mr mw me
55fc0e9d8000-55fc0f7a4000 r-xp 00411000 fe:00 10093537                   /usr/bin/a b (deleted)
Anonymous:             4 kB
55fc0f7a4000-55fc0f7a5000 r-xp 00411000 fe:00 10093537                   /usr/bin/a b (deleted)
Anonymous:             0 kB
55fc0f7a6000-55fc0f7a7000 rw-p 00411000 fe:00 10093537                   /usr/bin/a b (deleted)
Anonymous:             0 kB
55fc0f7a8000-55fc0f7a9000 r--s 00411000 fe:00 7                          /dev/shm/x
Anonymous:             0 kB
7ffd1b1f2000-7ffd1b1f4000 r-xp 00000000 00:00 0                          [vdso]
Anonymous:             0 kB
55fc0f7aa000-55fc0f7ab000 ---p 00411000 fe:00 7                          /usr/lib/x
Anonymous:             0 kB
";
        let found: Vec<_> = untouched(mappings).collect();
        assert_eq!(found, [0x55fc_0e5c_6000..0x55fc_0e9d_8000, 0x55fc_0f7a_4000..0x55fc_0f7a_5000]);
    }

    /// KiB of the mapping at `start` that are there.
    fn resident(start: *mut c_void) -> usize {
        let mappings = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let lines =
            mappings.lines().skip_while(|line| !line.starts_with(&format!("{start:x?}-")[2..]));
        let line = lines.take(30).find_map(|line| line.strip_prefix("Rss:")).unwrap();
        line.trim().trim_end_matches("kB").trim().parse().unwrap()
    }

    #[test]
    fn what_a_file_gives_again_is_let_go_and_what_was_changed_stays() {
        const LENGTH: usize = 1 << 20;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; LENGTH]).unwrap();
        let map = || {
            let modes = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: A new mapping, of a file that nobody else has.
            unsafe { mmap(ptr::null_mut(), LENGTH, modes, MapFlags::PRIVATE, &file, 0) }.unwrap()
        };
        let (same, changed) = (map(), map());
        // SAFETY: Both are mapped for the whole test, and nobody writes them once
        // they are read.
        let bytes = |start: *mut c_void| unsafe { &*start.cast::<[u8; LENGTH]>() };
        // SAFETY: Nothing of them is borrowed yet.
        unsafe {
            changed.cast::<u8>().write(9);
            mprotect(same, LENGTH, MprotectFlags::READ).unwrap();
            mprotect(changed, LENGTH, MprotectFlags::READ).unwrap();
        }
        for start in [same, changed] {
            assert_eq!(
                bytes(start).iter().filter(|byte| **byte == 7).count() / LENGTH,
                usize::from(start == same)
            );
            assert_eq!(resident(start), LENGTH / 1024);
        }
        release_program();
        assert_eq!((resident(same), resident(changed)), (0, LENGTH / 1024));
        assert!(bytes(same).iter().all(|byte| *byte == 7), "as the file has it");
        assert_eq!(bytes(changed)[0], 9, "as it was written");
    }
}
