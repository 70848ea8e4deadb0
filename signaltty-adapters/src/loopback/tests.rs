//! Answers as servers may give them, also the wrong ones.

use std::net::TcpListener;
use std::sync::mpsc;

use super::*;

const SOON: Bounds = Bounds { time: Duration::from_secs(5), bytes: 64 };

/// Serves one connection with these bytes; gives the result, and what the
/// server was sent.
fn ask(
    answer: &'static [u8],
    bounds: Bounds,
    ours: bool,
) -> (Result<(u16, String), String>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (heard, hear) = mpsc::channel();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut byte = [0];
        while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
            request.extend(byte);
        }
        heard.send(String::from_utf8(request).unwrap()).unwrap();
        let _ = stream.write_all(answer);
        if answer.is_empty() {
            // Says nothing until the other side gives up.
            let _ = stream.read(&mut byte);
        }
    });
    let endpoint = Endpoint { port, user: "u", password: "p" };
    let result = endpoint.get("/x?y=1", bounds, &|_, _| ours).map_err(|error| error.to_string());
    let result = result.and_then(|answer| {
        let status = answer.status;
        let mut text = String::new();
        match answer.body().read_to_string(&mut text) {
            Ok(_) => Ok((status, text)),
            Err(error) => Err(error.to_string()),
        }
    });
    let heard = hear.recv().unwrap();
    server.join().unwrap();
    (result, heard)
}

#[test]
fn bodies_end_where_their_frame_says() {
    for (answer, expected) in [
        (&b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc"[..], "ab"),
        (b"HTTP/1.1 200 OK\r\n\r\nabc", "abc"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", "abcde"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n", "ab"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""),
    ] {
        let (result, heard) = ask(answer, SOON, true);
        assert_eq!(result, Ok((200, expected.to_owned())));
        assert!(heard.starts_with("GET /x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:"), "{heard}");
        assert!(heard.contains("\r\nAuthorization: Basic dTpw\r\n"), "{heard}");
    }
    let (result, _) = ask(b"HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nx", SOON, true);
    assert_eq!(result, Ok((404, "x".to_owned())));
}

#[test]
fn cut_long_and_odd_answers_are_errors() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"[..],
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
        b"HTTP/1.1 200 OK\r\nConte",
        b"SSH-2.0-x\r\n\r\n",
        &[b'x'; 1 << 16],
        &[b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &[b'x'; 65]].concat().leak()[..],
    ] {
        let (result, _) = ask(answer, SOON, true);
        assert!(result.is_err(), "{result:?}");
    }
}

#[test]
fn d12_no_password_is_sent_to_a_process_that_is_not_ours() {
    let short = Bounds { time: Duration::from_millis(200), bytes: 64 };
    let (result, heard) = ask(b"x", short, false);
    assert!(result.unwrap_err().contains("not held by this process"));
    assert!(heard.starts_with("GET /x"), "{heard}");
    assert!(!heard.contains("Authorization"), "{heard}");
}

#[test]
fn a_server_that_says_nothing_is_left_in_time() {
    let short = Bounds { time: Duration::from_millis(200), bytes: 64 };
    let begun = Instant::now();
    let (result, _) = ask(b"", short, true);
    assert!(result.is_err());
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let endpoint = Endpoint { port: nobody, user: "", password: "" };
    assert!(matches!(endpoint.get("/", SOON, &|_, _| true), Err(AskError::Connect { .. })));
}
