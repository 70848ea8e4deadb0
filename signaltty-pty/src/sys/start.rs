//! Starting a program without a copy of this process.
//!
//! A fork copies the tables of all memory, and afterwards every thread of the
//! server takes a fault for each page that it writes. The child made here shares
//! the memory until its exec, while the thread that made it waits, as in the C
//! library's `posix_spawn`; that one cannot ask for the signal of a parent's death.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use nix::libc;
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{
    Pid, Resource, Rlimit, WaitOptions, chdir, getpid, ioctl_tiocsctty, setrlimit, setsid, waitpid,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin};

use super::{die_with_parent, hide_descriptors, reset_signals};
use crate::limits;

/// What to start. The strings are as the program is to see them.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    pub(crate) path: &'a CStr,
    pub(crate) argv: &'a [CString],
    pub(crate) env: &'a [CString],
    pub(crate) cwd: &'a CStr,
    pub(crate) terminal: BorrowedFd<'a>,
}

/// Starts a program as the leader of a new session whose controlling terminal is
/// its standard input, output and error. It has no signal blocked, ignored or
/// handled, no other descriptor, and is killed when the calling thread ends.
///
/// Back once it runs.
///
/// # Errors
///
/// Where a step failed, the exec among them; no child is left then.
pub(crate) fn start(program: &Program<'_>) -> io::Result<Pid> {
    let argv = pointers(program.argv);
    let env = pointers(program.env);
    let plan = Plan {
        program,
        argv: &argv,
        env: &env,
        descriptors: limits::of_children(),
        parent: getpid(),
        failed: AtomicI32::new(0),
    };
    let mut stack: Vec<MaybeUninit<u128>> = Vec::with_capacity(STACK / size_of::<u128>());
    let top = stack.spare_capacity_mut().as_mut_ptr_range().end;
    let plan_of_child = ptr::from_ref(&plan).cast_mut().cast::<libc::c_void>();
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let before = block_signals()?;
    // SAFETY: The child runs `child` on a stack of its own, aligned as every
    // architecture wants and large enough for a few frames of system calls. It
    // shares this process's memory, and this thread does not go on before it has
    // executed its program or ended, so plan and stack outlive it. All signals are
    // blocked, so no handler of ours runs in it; what it does with signals,
    // descriptors and its directory is its own, as none of those is shared.
    let pid = unsafe { libc::clone(child, top.cast(), flags, plan_of_child) };
    let made = io::Error::last_os_error();
    restore_signals(&before);
    drop(stack);
    let Some(pid) = Pid::from_raw(pid).filter(|_| pid > 0) else {
        return Err(made);
    };
    match plan.failed.load(Ordering::Acquire) {
        0 => Ok(pid),
        errno => {
            // It has ended, and nobody else knows of it.
            let _ = waitpid(Some(pid), WaitOptions::empty());
            Err(io::Error::from_raw_os_error(errno))
        }
    }
}

/// Bytes of the child's stack.
const STACK: usize = 64 * 1024;

/// What the child needs, made before it.
struct Plan<'a> {
    program: &'a Program<'a>,
    argv: &'a [*const libc::c_char],
    env: &'a [*const libc::c_char],
    descriptors: Option<Rlimit>,
    parent: Pid,
    /// The number of the error that kept the program from running.
    failed: AtomicI32,
}

extern "C" fn child(plan: *mut libc::c_void) -> libc::c_int {
    // SAFETY: The parent passed its plan, and waits with it.
    let plan = unsafe { &*plan.cast::<Plan<'_>>() };
    plan.failed.store(plan.run().raw_os_error(), Ordering::Release);
    // SAFETY: Ends this process and runs nothing of the one that it shares memory
    // with.
    unsafe { libc::_exit(127) }
}

impl Plan<'_> {
    /// Becomes the program; back with the error where that failed.
    ///
    /// Each step is one or more plain system calls on what is there already: no
    /// allocation, no lock, no destructor.
    fn run(&self) -> Errno {
        match self.prepare() {
            Err(errno) => errno,
            Ok(()) => {
                let path = self.program.path.as_ptr();
                // SAFETY: Path and both lists are strings that end with a zero
                // byte, and the lists end with a null; all live in the parent.
                unsafe { libc::execve(path, self.argv.as_ptr(), self.env.as_ptr()) };
                let errno = io::Error::last_os_error().raw_os_error();
                Errno::from_raw_os_error(errno.unwrap_or(libc::EINVAL))
            }
        }
    }

    fn prepare(&self) -> Result<(), Errno> {
        setsid()?;
        // Above the three, each of which then loses close-on-exec.
        let terminal = fcntl_dupfd_cloexec(self.program.terminal, 3)?;
        dup2_stdin(&terminal)?;
        dup2_stdout(&terminal)?;
        dup2_stderr(&terminal)?;
        // Closed by the exec; this is the child's own table.
        std::mem::forget(terminal);
        ioctl_tiocsctty(stdin().as_fd())?;
        chdir(self.program.cwd)?;
        hide_descriptors();
        if let Some(limit) = &self.descriptors {
            setrlimit(Resource::Nofile, *limit)?;
        }
        die_with_parent(self.parent)?;
        // The last: from here on a signal ends it.
        reset_signals()
    }
}

/// A list as exec takes it.
fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

/// Blocks every signal for this thread; what was blocked before.
fn block_signals() -> io::Result<libc::sigset_t> {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigfillset` initializes the set that it is given, and where the
    // second call succeeds it has initialized the other one.
    let (result, before) = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        let result = libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        (result, before)
    };
    if result != 0 {
        return Err(io::Error::from_raw_os_error(result));
    }
    // SAFETY: It succeeded.
    Ok(unsafe { before.assume_init() })
}

fn restore_signals(before: &libc::sigset_t) {
    // SAFETY: The set is one that the kernel gave; it is only read.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, ptr::null_mut()) };
}
