//! The client against servers that misbehave.

use std::future::Future;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};

use super::*;
use crate::protocol::Empty;
use crate::protocol::frame::Frame;
use crate::protocol::{Status, code};

fn paths(dir: &tempfile::TempDir) -> Paths {
    Paths {
        state_dir: dir.path().join("state"),
        runtime_dir: dir.path().join("run"),
        socket: dir.path().join("s"),
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Calls `server.status` on a server that reads the request and sends `answer`.
fn ask(answer: &[u8], max_reply: usize) -> ClientError {
    let dir = tempfile::tempdir().unwrap();
    let paths = paths(&dir);
    block_on(async {
        let listener = UnixListener::bind(&paths.socket).unwrap();
        let server = async {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            let request: Request = serde_json::from_str(&line).unwrap();
            assert_eq!((request.v.as_str(), request.method.as_str()), (VERSION, "server.status"));
            // The client may have seen enough.
            let _ = stream.write_all(answer).await;
        };
        let client = async {
            let stream = UnixStream::connect(&paths.socket).await.unwrap();
            let mut client = Client::over(stream, paths.socket.clone(), max_reply);
            client.call::<_, Status>("server.status", &Empty {}).await
        };
        tokio::join!(server, client).1.unwrap_err()
    })
}

#[test]
fn answers_that_are_no_replies_are_errors_that_say_so() {
    let cases: [(&[u8], &str); 6] = [
        (b"hello\n", "no reply"),
        (b"{\"id\":\"1\"}\n", "no reply"),
        (b"{\"id\":\"1\",\"result\":{}}\n", "another shape"),
        (b"{\"id\":\"9\",\"result\":{}}\n", "another request"),
        (b"", "went away before it answered server.status"),
        (b"{\"id\":", "went away before it answered server.status"),
    ];
    for (answer, expected) in cases {
        let error = ask(answer, 1000);
        let other = matches!(error, ClientError::Protocol { .. } | ClientError::Closed { .. });
        assert!(other, "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// What becomes of a request on a server that answers `answers` and then ends;
/// and how many requests reached it.
fn ask_live(answers: &[&str]) -> (Result<Value, ClientError>, usize) {
    let dir = tempfile::tempdir().unwrap();
    let paths = paths(&dir);
    block_on(async {
        let listener = UnixListener::bind(&paths.socket).unwrap();
        let server = async {
            let (stream, _) = listener.accept().await.unwrap();
            let (mut stream, mut line, mut heard) = (BufReader::new(stream), String::new(), 0);
            for answer in answers {
                heard += usize::from(stream.read_line(&mut line).await.unwrap() > 0);
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
            heard
        };
        let client = async {
            let mut client = connect_live(&paths).await?;
            client.call::<_, Value>("workspace.new", &Empty {}).await
        };
        let (heard, result) = tokio::join!(server, client);
        (result, heard)
    })
}

#[test]
fn a_server_that_ends_before_its_first_answer_is_none_and_nothing_is_asked_twice() {
    let (result, _) = ask_live(&[]);
    assert!(matches!(result, Err(ClientError::NoServer { .. })), "{result:?}");
    let status = "{\"id\":\"1\",\"result\":{}}\n";
    let made = "{\"id\":\"2\",\"result\":{}}\n";
    let (result, heard) = ask_live(&[status, made]);
    assert!(result.is_ok() && heard == 2, "{result:?} {heard}");
    // Whether the second one was done, nobody knows.
    let (result, heard) = ask_live(&[status, ""]);
    assert!(!matches!(result, Err(ClientError::NoServer { .. })), "{result:?}");
    assert!(result.is_err() && heard == 2, "{result:?} {heard}");
    let refused = "{\"id\":\"?\",\"error\":{\"code\":\"RATE_LIMITED\",\"message\":\"m\"}}\n";
    let (result, heard) = ask_live(&[refused]);
    assert!(result.unwrap_err().has_code(code::RATE_LIMITED) && heard == 1, "{heard}");
}

#[test]
fn an_oversized_reply_is_refused_before_it_is_held() {
    let error = ask(&vec![b'x'; 200_000], 1000);
    let expected = "a line of more than 1000 bytes";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn another_version_is_told_as_the_server_says_it() {
    let answer = br#"{"id":"?","error":{"code":"BAD_PROTOCOL","message":"the server is older"}}"#;
    let error = ask(&[&answer[..], b"\n"].concat(), 1000);
    assert!(error.has_code(code::BAD_PROTOCOL), "{error:?}");
    assert_eq!(error.to_string(), "the server is older");
}

#[test]
fn nobody_listening_is_told_apart_from_other_failures() {
    let dir = tempfile::tempdir().unwrap();
    let paths = paths(&dir);
    let missing = block_on(Client::connect(&paths)).unwrap_err();
    assert!(matches!(missing, ClientError::NoServer { .. }));
    // A socket that was left behind.
    drop(std::os::unix::net::UnixListener::bind(&paths.socket).unwrap());
    let left = block_on(Client::connect(&paths)).unwrap_err();
    assert!(matches!(left, ClientError::NoServer { .. }));
    let below = Paths { socket: paths.socket.join("s"), ..paths };
    let wrong = block_on(Client::connect(&below)).unwrap_err();
    assert!(matches!(wrong, ClientError::Io { .. }), "{wrong:?}");
}

#[test]
fn a_request_over_the_limit_is_not_sent() {
    let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let error = block_on(async {
        let stream = UnixStream::from_std(ours).unwrap();
        let mut client = Client::over(stream, PathBuf::from("s"), 1000);
        let long = "x".repeat(MAX_REQUEST);
        client.call::<_, Value>("pane.send", &long).await
    });
    assert!(error.unwrap_err().has_code(code::TOO_LARGE));
}

#[test]
fn bytes_behind_the_reply_belong_to_the_frames() {
    block_on(async {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut wire = bytes::BytesMut::from(&b"{\"id\":\"1\",\"result\":{}}\n"[..]);
        let sent = Frame::Output(bytes::Bytes::from_static(b"hello"));
        sent.encode(&mut wire);
        theirs.write_all(&wire).await.unwrap();
        let params = PaneAttach {
            pane: "pane_1".to_owned(),
            cols: 80,
            rows: 24,
            read_only: false,
            history: 0,
            clipboard: false,
            background: false,
        };
        let client = Client::over(ours, PathBuf::from("s"), 1000);
        let mut attached = client.attach(&params).await.unwrap();
        assert_eq!(attached.frames.next().await.unwrap(), Some(sent));
        attached.writer.send(&Frame::Detach).await.unwrap();
        let mut lines = BufReader::new(theirs);
        let mut request = String::new();
        lines.read_line(&mut request).await.unwrap();
        let mut frames = crate::protocol::frame::FrameReader::new(lines, bytes::BytesMut::new());
        assert_eq!(frames.next().await.unwrap(), Some(Frame::Detach));
    });
}

#[test]
fn events_follow_the_reply() {
    block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut theirs = BufReader::new(theirs);
        let event = r#"{"event":"pane.state","seq":7,"at":"2026-01-01T00:00:00Z","payload":{}}"#;
        let missed = r#"{"event":"events.missed","payload":{"missed":9,"message":"too slow"}}"#;
        let wire = format!(
            "{{\"id\":\"1\",\"result\":{{\"subscribed\":true,\"seq\":0,\"epoch\":\"e\"}}}}\n{event}\n{missed}\nnonsense\n"
        );
        theirs.write_all(wire.as_bytes()).await.unwrap();
        let client = Client::over(ours, PathBuf::from("s"), 1000);
        let mut events = client.events().await.unwrap();
        theirs.read_line(&mut String::new()).await.unwrap();
        assert_eq!(events.next().await.unwrap().unwrap().seq, Some(7));
        let missed = events.next().await.unwrap_err();
        assert!(matches!(missed, ClientError::Behind(_)), "{missed:?}");
        let nonsense = events.next().await.unwrap_err();
        assert!(matches!(nonsense, ClientError::Protocol { .. }));
        drop(theirs);
        assert!(events.next().await.unwrap().is_none());
    });
}
