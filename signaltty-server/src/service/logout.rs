//! What a logout does to this server, as far as that can be seen.
//!
//! The cgroup says who would end it: the scope of a login session, the user's
//! own manager, or neither. A mark that logind keeps as a file says whether the
//! user's manager outlives the last logout. Nothing here asks the bus, so the
//! setting of `KillUserProcesses` is not known, and what depends on it is said
//! to depend on it.

use std::{fs, io};

use crate::protocol::Health;

/// What a logout does to this process.
pub(crate) fn outlook() -> Health {
    let cgroup = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    judge(&cgroup, lingers())
}

/// Whether this user's manager goes on without a login; `None` where that
/// cannot be made out.
pub(crate) fn lingers() -> Option<bool> {
    let uid = rustix::process::getuid().as_raw();
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let name = name_of(&users, uid)?;
    match fs::symlink_metadata(format!("/var/lib/systemd/linger/{name}")) {
        Ok(_) => Some(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(false),
        Err(_) => None,
    }
}

fn name_of(users: &str, uid: u32) -> Option<&str> {
    let uid = uid.to_string();
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid && !name.contains('/')).then_some(name)
    })
}

fn judge(cgroup: &str, lingers: Option<bool>) -> Health {
    let parts = || cgroup.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let parts = || parts().flat_map(|path| path.split('/'));
    let manager = parts().any(|part| part.starts_with("user@") && part.ends_with(".service"));
    let scope = parts().find(|part| part.starts_with("session-") && part.ends_with(".scope"));
    match (manager, scope, lingers) {
        (true, _, Some(true)) => Health { state: "survives".to_owned(), detail: None },
        (true, _, Some(false)) => Health::with(
            "ends",
            "the user's service manager ends soon after the last logout, and this server with it; \
             `loginctl enable-linger` lets it go on",
        ),
        (true, _, None) => Health::with(
            "may_end",
            "the user's service manager ends soon after the last logout, unless \
             `loginctl enable-linger` was said",
        ),
        (false, Some(scope), _) => Health::with(
            "may_end",
            format!(
                "it runs in the login session {scope} and ends with it where logind has \
                 KillUserProcesses=yes; `signaltty-server service install` helps"
            ),
        ),
        (false, None, _) if parts().all(str::is_empty) => {
            Health::with("unknown", "nothing says which login session it belongs to")
        }
        (false, None, _) => Health { state: "survives".to_owned(), detail: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_logout_does_follows_from_who_runs_the_server() {
        let manager =
            "0::/user.slice/user-1000.slice/user@1000.service/app.slice/signaltty.service\n";
        let session = "1:name=systemd:/user.slice/user-1000.slice/session-3.scope\n0::/\n";
        let cases = [
            (manager, Some(true), "survives", ""),
            (manager, Some(false), "ends", "enable-linger"),
            (manager, None, "may_end", "enable-linger"),
            // Lingering keeps the manager, not what runs in a session.
            (session, Some(true), "may_end", "session-3.scope"),
            (session, Some(false), "may_end", "KillUserProcesses"),
            ("0::/system.slice/signaltty.service\n", None, "survives", ""),
            ("0::/\n", Some(false), "unknown", ""),
            ("", None, "unknown", ""),
        ];
        for (cgroup, lingers, state, says) in cases {
            let health = judge(cgroup, lingers);
            assert_eq!(health.state, state, "{cgroup} {lingers:?}");
            assert!(health.detail.unwrap_or_default().contains(says), "{cgroup} {lingers:?}");
        }
    }

    #[test]
    fn a_user_is_found_by_number() {
        let users = "root:x:0:0::/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\nbad\n";
        assert_eq!(name_of(users, 1000), Some("me"));
        assert_eq!(name_of(users, 100), None);
    }
}
