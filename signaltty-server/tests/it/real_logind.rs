//! A real systemd-logind, on a bus of its own, and the real server.
//!
//! logind runs alone in mount, network, IPC and UTS namespaces with an empty
//! `/run` and without the right to reboot; the locks, the delays and the signals
//! are its own. Only systemd, which it asks to start `poweroff.target`, is
//! pretended. So nothing here can reach the host's own logind or bus.
//!
//! Needs root, `dbus-daemon`, systemd-logind, `unshare` and `setpriv`. Where one
//! of them is missing this says so and is skipped, unless
//! `SIGNALTTY_REAL_LOGIND=1` forbids that.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::timeout;
use zbus::Connection;
use zbus::wire::{ObjectPath, OwnedVariant};

use crate::support::{Home, PATIENCE, Server, wait_for, wait_until};

#[test]
fn s0_25_s0_26_s0_29_a_server_beside_a_real_logind() {
    if let Some(why) = missing() {
        let forbidden = std::env::var_os("SIGNALTTY_REAL_LOGIND").is_some_and(|value| value == "1");
        assert!(!forbidden, "this must not be skipped here: {why}");
        // Past the test harness, which keeps to itself what a test prints.
        let _ = writeln!(io::stderr(), "skipped: a server beside a real logind: {why}");
        return;
    }
    let lab_home = Home::new();
    let mut lab = Lab::start(&lab_home);

    // A shutdown: saved while the host waits, which goes on after that.
    let home = Home::new();
    let mut server = lab.server(&home);
    server.wait_logind("armed");
    let locks = lab.locks();
    assert_eq!(locks, [lock_of(&server)]);
    let pane = server.spawn(&home, &["/bin/cat"]);
    server.ask("pane.rename", json!({"pane": pane, "title": "last words"}));
    let asked = Instant::now();
    lab.power_off().unwrap();
    let unit = lab.started();
    let waited = asked.elapsed();
    assert_eq!(unit, "poweroff.target");
    assert!(home.snapshot().to_string().contains("last words"));
    assert!(server.wait_exit().success());
    println!(
        "the host went on {waited:?} after the request, the server ended after {:?}",
        asked.elapsed()
    );
    assert!(waited < Duration::from_secs(4), "the host waited for {waited:?}");

    // While it is under way: no lock can be had. Saved at once, then the end.
    // It may be gone before anybody can ask it a thing.
    let home = Home::new();
    let ended = Server::ended(&home, |command| lab.point(command));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(home.snapshot_path().exists());
    assert!(ended.stderr.contains("the host is shutting down held=false"), "{}", ended.stderr);

    // A restart of logind: one lock before, one after.
    lab.restart();
    let home = Home::new();
    let mut server = lab.server(&home);
    server.wait_logind("armed");
    lab.restart();
    wait_until("the new lock", || lab.locks() == [lock_of(&server)]);
    server.wait_logind("armed");
    assert!(server.panes().is_empty());

    // A shutdown that fails is taken back; the server has saved and left, and
    // the next one is armed again.
    lab.refuse.store(true, Ordering::SeqCst);
    lab.power_off().unwrap();
    assert_eq!(lab.started(), "poweroff.target");
    assert!(server.wait_exit().success());
    lab.wait_taken_back();
    let server = lab.server(&home);
    server.wait_logind("armed");
    assert_eq!(server.status()["problems"], json!([]));
}

/// What is missing for this, if anything is.
fn missing() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("this needs root".to_owned());
    }
    if !Path::new(LOGIND).exists() {
        return Some(format!("{LOGIND} is missing"));
    }
    for program in ["dbus-daemon", "unshare", "setpriv", "mount"] {
        if let Err(error) = Command::new(program).arg("--version").output() {
            return Some(format!("{program} cannot be run: {error}"));
        }
    }
    let namespaces = Command::new("unshare").args(NAMESPACES).arg("true").output().ok()?;
    let said = String::from_utf8_lossy(&namespaces.stderr);
    (!namespaces.status.success()).then(|| format!("this root is none: {}", said.trim()))
}

/// The lock of a server, as logind lists it.
fn lock_of(server: &Server) -> Lock {
    let texts = ["shutdown", "signaltty", "Saving terminal sessions", "delay"];
    (texts[0].into(), texts[1].into(), texts[2].into(), texts[3].into(), 0, server.pid())
}

type Lock = (String, String, String, String, u32, u32);

/// A bus with a real logind and a pretended systemd.
struct Lab<'a> {
    home: &'a Home,
    runtime: Runtime,
    address: String,
    bus: Child,
    logind: Child,
    connection: Connection,
    started: mpsc::UnboundedReceiver<String>,
    /// Whether the next unit is refused.
    refuse: Arc<AtomicBool>,
}

impl<'a> Lab<'a> {
    fn start(home: &'a Home) -> Self {
        let (bus, address) = start_bus(home);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (sender, started) = mpsc::unbounded_channel();
        let refuse = Arc::new(AtomicBool::new(false));
        let manager = Manager { started: sender, refuse: Arc::clone(&refuse) };
        let builder = zbus::connection::Builder::address(address.as_str())
            .serve_at("/org/freedesktop/systemd1", manager)
            .serve_at("/org/freedesktop/systemd1/unit/poweroff_2etarget", Unit)
            .name("org.freedesktop.systemd1");
        let connection = runtime.block_on(builder.build()).unwrap();
        let logind = start_logind(home, &address);
        let mut lab = Self { home, runtime, address, bus, logind, connection, started, refuse };
        lab.wait_up();
        lab
    }

    fn server(&self, home: &Home) -> Server {
        Server::start_with(home, |command| self.point(command))
    }

    /// Makes a server use this logind.
    fn point(&self, command: &mut Command) {
        command.env_remove("SIGNALTTY_LOGIND").env("DBUS_SYSTEM_BUS_ADDRESS", &self.address);
    }

    fn call<B, R>(&self, method: &str, body: &B) -> zbus::Result<R>
    where
        B: serde::Serialize + zbus::wire::DynamicType,
        R: serde::de::DeserializeOwned + zbus::wire::Type,
    {
        self.call_on("org.freedesktop.login1.Manager", method, body)
    }

    fn call_on<B, R>(&self, interface: &str, method: &str, body: &B) -> zbus::Result<R>
    where
        B: serde::Serialize + zbus::wire::DynamicType,
        R: serde::de::DeserializeOwned + zbus::wire::Type,
    {
        let name = Some("org.freedesktop.login1");
        let interface = Some(interface);
        let call =
            self.connection.call_method(name, "/org/freedesktop/login1", interface, method, body);
        let answer = self.runtime.block_on(async { timeout(PATIENCE, call).await });
        answer.expect("it answers in time")?.body().deserialize()
    }

    /// The delay locks that are held.
    fn locks(&self) -> Vec<Lock> {
        self.call("ListInhibitors", &()).unwrap()
    }

    fn power_off(&self) -> zbus::Result<()> {
        self.call("PowerOff", &false)
    }

    /// Waits until logind asks for a unit; its name.
    fn started(&mut self) -> String {
        let next = async { timeout(PATIENCE, self.started.recv()).await };
        self.runtime.block_on(next).expect("a unit in time").unwrap()
    }

    /// Waits until no shutdown is under way: a server that starts before that is
    /// told of one, and ends.
    fn wait_taken_back(&self) {
        wait_until("the end of the shutdown", || {
            let body = ("org.freedesktop.login1.Manager", "PreparingForShutdown");
            let value: OwnedVariant =
                self.call_on("org.freedesktop.DBus.Properties", "Get", &body).unwrap();
            !bool::try_from(value).unwrap()
        });
    }

    /// Kills logind, and starts another one, which knows the locks of the first.
    fn restart(&mut self) {
        self.logind.kill().unwrap();
        self.logind.wait().unwrap();
        self.logind = start_logind(self.home, &self.address);
        self.wait_up();
    }

    fn wait_up(&mut self) {
        wait_for("logind", || {
            let ended = self.logind.try_wait().unwrap();
            assert!(ended.is_none(), "logind ended: {ended:?}, see above");
            self.call::<_, Vec<Lock>>("ListInhibitors", &()).ok()
        });
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        for child in [&mut self.logind, &mut self.bus] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn start_bus(home: &Home) -> (Child, String) {
    let address = format!("unix:path={}", home.path("bus").display());
    let config = home.path("bus.conf");
    let text = format!(
        "<busconfig><type>system</type><listen>{address}</listen><auth>EXTERNAL</auth>\
         <policy context=\"default\"><allow user=\"*\"/><allow own=\"*\"/>\
         <allow send_destination=\"*\" eavesdrop=\"false\"/><allow send_type=\"signal\"/>\
         <allow receive_sender=\"*\"/></policy></busconfig>"
    );
    fs::write(&config, text).unwrap();
    let mut bus = Command::new("dbus-daemon")
        .arg(format!("--config-file={}", config.display()))
        .args(["--nofork", "--nopidfile", "--print-address"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(bus.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("unix:"), "the bus did not start");
    (bus, address)
}

/// logind in namespaces of its own. Its locks are files in the test's directory,
/// so that the next one finds them, as it would after a restart.
fn start_logind(home: &Home, address: &str) -> Child {
    let locks = home.path("inhibit");
    fs::create_dir_all(&locks).unwrap();
    let script = "set -e
        mount -t tmpfs lab /run
        cd /run && mkdir -p user systemd && cd systemd
        mkdir seats users sessions inhibit machines shutdown logind.conf.d
        printf '[Login]\\nNAutoVTs=0\\nReserveVT=0\\nHandlePowerKey=ignore\\n' >logind.conf.d/lab.conf
        mount --bind \"$1\" inhibit
        exec setpriv --bounding-set=-sys_boot --inh-caps=-sys_boot -- \"$2\"";
    Command::new("unshare")
        .args(NAMESPACES)
        .args(["sh", "-c", script, "sh"])
        .arg(locks)
        .arg(LOGIND)
        .env("DBUS_SYSTEM_BUS_ADDRESS", address)
        .env("SYSTEMD_LOG_TARGET", "console")
        .env("SYSTEMD_LOG_LEVEL", "warning")
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

/// systemd, as far as logind asks it at a shutdown.
struct Manager {
    started: mpsc::UnboundedSender<String>,
    refuse: Arc<AtomicBool>,
}

#[zbus::interface(name = "org.freedesktop.systemd1.Manager")]
impl Manager {
    fn subscribe(&self) {}

    fn start_unit(&self, unit: &str, _mode: &str) -> zbus::fdo::Result<ObjectPath<'static>> {
        self.started.send(unit.to_owned()).unwrap();
        if self.refuse.swap(false, Ordering::SeqCst) {
            return Err(zbus::fdo::Error::Failed("refused by the test".to_owned()));
        }
        Ok(ObjectPath::try_from("/org/freedesktop/systemd1/job/1").unwrap())
    }
}

/// The unit whose state logind looks at first.
struct Unit;

#[zbus::interface(name = "org.freedesktop.systemd1.Unit")]
impl Unit {
    #[zbus(property)]
    fn load_state(&self) -> &str {
        "loaded"
    }

    #[zbus(property)]
    fn active_state(&self) -> &str {
        "inactive"
    }
}

/// Where Debian and others have it.
const LOGIND: &str = "/lib/systemd/systemd-logind";

const NAMESPACES: [&str; 6] = ["--mount", "--net", "--ipc", "--uts", "--propagation", "private"];
