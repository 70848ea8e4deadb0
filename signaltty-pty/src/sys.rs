//! The one module with `unsafe` code.
//!
//! It holds what no safe interface offers: the steps of a child before its
//! exec, the closing of what a process inherited, the giving back of memory, and
//! the registration of a descriptor with the runtime.

#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::ptr;

use nix::libc;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

mod pages;
mod start;

pub use pages::release_program;
pub(crate) use start::{Program, start};

/// A descriptor that the runtime watches. Nothing but this module makes one.
#[derive(Debug)]
pub(crate) struct Watched {
    fd: AsyncFd<OwnedFd>,
}

impl Watched {
    /// Registers `fd` with the runtime of the caller.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with IO enabled, as everything in tokio does.
    pub(crate) fn new(fd: OwnedFd, interest: Interest) -> io::Result<Self> {
        // SAFETY: An `OwnedFd` is open, reports the same descriptor for its
        // whole life and is closed only when dropped. `AsyncFd` owns it, and the
        // field is private and never replaced: `Self` only hands out shared
        // references, through which an `OwnedFd` can neither be closed nor
        // changed. So it stays open and the same until the `AsyncFd` is gone.
        let fd = unsafe { AsyncFd::register_with_interest(fd, interest) }?;
        Ok(Self { fd })
    }

    /// The registration, for waiting and for IO.
    pub(crate) fn get(&self) -> &AsyncFd<OwnedFd> {
        &self.fd
    }
}

/// Asks for SIGKILL when the parent ends, then makes sure that it has not yet.
fn die_with_parent(parent: Pid) -> Result<(), Errno> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // A parent that ended before the request was made sends nothing.
    if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH) }
}

/// Gives the process signals of its own, whoever started it: none is blocked,
/// so that a wish to end arrives; children can be waited for; and a write beyond
/// the limit of a file's length (`ulimit -f`) is an error to handle and no end.
///
/// To be called by a server before it has threads. Children of panes get the
/// default actions back.
pub fn settle_signals() {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initializes the set, which is only read afterwards,
    // and the old mask is not asked for. `signal` is given numbers that exist
    // and no function of ours. None of them can fail with these arguments.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Gives every signal its default action and blocks none.
///
/// An exec keeps ignored signals ignored: under `nohup`, children would
/// otherwise never notice a hangup.
fn reset_signals() -> Result<(), Errno> {
    // The C library refuses to touch the signals it uses itself, although those
    // can be inherited as ignored as well; so the kernel is asked directly.
    let default = [0_u64; 8];
    for signal in 1..=LAST_SIGNAL {
        // SAFETY: The kernel reads one of its own `sigaction` structures, which
        // is smaller than the array on every architecture, and writes nothing
        // since the old action is not asked for. All zero means `SIG_DFL`, no
        // flags and an empty mask in any order of fields. A system call is
        // async-signal-safe. KILL and STOP are refused without effect.
        unsafe {
            let none = ptr::null_mut::<libc::c_void>();
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), none, SIGNAL_SET);
        }
    }
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initializes the set it is given, and the mask is
    // only read from it afterwards; the old mask is not asked for. Both are
    // async-signal-safe, and the child has a single thread.
    let result = unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut())
    };
    if result == 0 { Ok(()) } else { Err(Errno::INVAL) }
}

/// Marks every descriptor above 2 close-on-exec.
///
/// Ours are so from birth; this covers what the process inherited from whoever
/// started it. An old kernel without the call leaves those as they are.
fn hide_descriptors() {
    // SAFETY: `close_range` takes three integers, touches no memory, and with
    // this flag closes nothing: descriptors that the standard library still
    // uses to report a failed exec stay usable.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
}

/// Closes every descriptor above 2, whoever opened it.
///
/// For the first lines of a program that outlives the one that started it: what
/// that one had open would otherwise stay open as long. To be called before
/// anything is opened here, since whoever owns a descriptor would lose it. An
/// old kernel without the call leaves them open.
pub fn close_inherited() {
    // SAFETY: `close_range` takes three integers and touches no memory. The
    // caller has opened nothing yet, so no owner loses its descriptor.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32);
    }
}

/// Makes the allocator give memory back.
///
/// For the first lines of a program that runs for weeks: what a busy minute
/// needed is otherwise kept, in an area for each thread, and the size from which
/// an allocation has pages of its own grows with the largest that was freed.
/// Other allocators than the GNU C library's are left alone.
pub fn give_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (name, value) in [
        (libc::M_ARENA_MAX, 1),
        (libc::M_MMAP_THRESHOLD, OWN_PAGES),
        (libc::M_TRIM_THRESHOLD, OWN_PAGES),
    ] {
        // SAFETY: `mallopt` takes two integers, locks what it changes, and refuses
        // a value that it does not know without effect.
        unsafe { libc::mallopt(name, value) };
    }
}

/// Gives back what the allocator has free at the moment, wherever it is.
///
/// Takes about a millisecond for ten MiB, in which other threads wait for memory.
/// Other allocators than the GNU C library's are left alone.
pub fn trim_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `malloc_trim` takes an integer and locks what it changes; memory that
    // is in use is not touched.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Bytes of an allocation that has pages of its own, and of free memory that may
/// stay: what the allocator begins with.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_PAGES: libc::c_int = 128 * 1024;

/// Linux has signals 1 to 64 on every architecture but MIPS, which has more.
const LAST_SIGNAL: libc::c_int = 64;

/// Bytes of the kernel's signal sets.
const SIGNAL_SET: usize = 8;
