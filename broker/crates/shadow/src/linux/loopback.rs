//! Turns the loopback device on, which a new network has but does not use.

use std::io;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, send, socket};

/// RTM_NEWLINK of `linux/rtnetlink.h`, for the device of number 1, which is the loopback.
const NEW_LINK: u16 = 16;
const REQUEST_AND_ACKNOWLEDGE: u16 = 0x1 | 0x4;
const LOOPBACK: i32 = 1;
const UP: u32 = 1;
const ERROR: u16 = 2;

pub(super) fn turn_on() -> io::Result<()> {
    // Protocol 0 is that of routes.
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    send(&socket, &message(), SendFlags::empty())?;
    let mut answer = [0; 64];
    let (length, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    // nlmsghdr, then the error of nlmsgerr, which is 0 where all went well.
    let field = |at: usize| answer.get(at..at + 4).filter(|_| length >= at + 4);
    let kind = answer.get(4..6).and_then(|it| it.try_into().ok()).map(u16::from_ne_bytes);
    let error = field(16).and_then(|it| it.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, error) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(error)) => Err(io::Error::from_raw_os_error(-error)),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// An nlmsghdr (length, type, flags, sequence, port) and an ifinfomsg (family, type, index, flags, mask).
fn message() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32);
    bytes.extend(32_u32.to_ne_bytes());
    bytes.extend(NEW_LINK.to_ne_bytes());
    bytes.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([0; 4]);
    bytes.extend(LOOPBACK.to_ne_bytes());
    bytes.extend(UP.to_ne_bytes());
    bytes.extend(UP.to_ne_bytes());
    bytes
}
