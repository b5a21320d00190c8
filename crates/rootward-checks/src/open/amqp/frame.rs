//! The frames of AMQP 0-9-1 that a check needs, in bytes (specification, section 4.2).

use rootward::Failure;

use crate::amqp_words::no_amqp;
use crate::wire::Wire;

/// The largest frame that is read. What a broker says of itself has about a kilobyte.
const MAX_FRAME_BYTES: usize = 128 * 1024;

const FRAME_METHOD: u8 = 1;
const FRAME_HEARTBEAT: u8 = 8;
const FRAME_END: u8 = 0xCE;

/// The methods, by their classes and numbers.
macro_rules! methods {
    ($($name:ident = $class:literal, $number:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Method {
            $($name,)*
        }

        impl Method {
            const fn numbers(self) -> (u16, u16) {
                match self {
                    $(Self::$name => ($class, $number),)*
                }
            }

            const fn of(class: u16, number: u16) -> Option<Self> {
                match (class, number) {
                    $(($class, $number) => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

methods! {
    ConnectionStart = 10, 10;
    ConnectionStartOk = 10, 11;
    ConnectionTune = 10, 30;
    ConnectionTuneOk = 10, 31;
    ConnectionOpen = 10, 40;
    ConnectionOpenOk = 10, 41;
    ConnectionClose = 10, 50;
    ConnectionBlocked = 10, 60;
    ConnectionUnblocked = 10, 61;
    ChannelOpen = 20, 10;
    ChannelOpenOk = 20, 11;
    ChannelFlow = 20, 20;
    ChannelFlowOk = 20, 21;
    ChannelClose = 20, 40;
}

/// A method on its way out.
pub(super) struct Writer {
    channel: u16,
    payload: Vec<u8>,
}

impl Writer {
    pub(super) fn method(channel: u16, method: Method) -> Self {
        let (class, number) = method.numbers();
        let writer = Self {
            channel,
            payload: Vec::new(),
        };
        writer.u16(class).u16(number)
    }

    pub(super) fn u8(mut self, number: u8) -> Self {
        self.payload.push(number);
        self
    }

    pub(super) fn u16(mut self, number: u16) -> Self {
        self.payload.extend(number.to_be_bytes());
        self
    }

    pub(super) fn u32(mut self, number: u32) -> Self {
        self.payload.extend(number.to_be_bytes());
        self
    }

    /// A short string: at most 255 bytes, which the caller has seen to.
    pub(super) fn short(mut self, text: &str) -> Self {
        let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
        self.payload.push(length);
        self.payload.extend(text.bytes().take(usize::from(length)));
        self
    }

    pub(super) fn long(mut self, bytes: &[u8]) -> Self {
        self = self.u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        self.payload.extend(bytes);
        self
    }

    /// The table of what the client says of itself: its name, and what it understands.
    pub(super) fn capabilities(self, understood: &[&str]) -> Self {
        let mut capabilities = Self {
            channel: 0,
            payload: Vec::new(),
        };
        for name in understood {
            capabilities = capabilities.short(name).u8(b't').u8(1);
        }
        let table = Self {
            channel: 0,
            payload: Vec::new(),
        };
        let table = table
            .short("product")
            .u8(b'S')
            .long(b"rootward")
            .short("capabilities")
            .u8(b'F')
            .long(&capabilities.payload);
        self.long(&table.payload)
    }

    pub(super) fn frame(self) -> Vec<u8> {
        let mut frame = vec![FRAME_METHOD];
        frame.extend(self.channel.to_be_bytes());
        let length = u32::try_from(self.payload.len()).unwrap_or(u32::MAX);
        frame.extend(length.to_be_bytes());
        frame.extend(self.payload);
        frame.push(FRAME_END);
        frame
    }
}

/// The arguments of a method that came.
pub(super) struct Arguments(Vec<u8>, usize);

impl Arguments {
    pub(super) fn u16(&mut self) -> Result<u16, Failure> {
        Ok(u16::from_be_bytes(self.take()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Failure> {
        Ok(u32::from_be_bytes(self.take()?))
    }

    /// A short string.
    pub(super) fn short(&mut self) -> Result<&[u8], Failure> {
        let [length] = self.take()?;
        let begin = self.1;
        self.1 += usize::from(length);
        self.0.get(begin..self.1).ok_or_else(no_amqp)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let bytes = self.0.get(self.1..).and_then(|rest| rest.first_chunk());
        self.1 += N;
        bytes.copied().ok_or_else(no_amqp)
    }
}

/// The next frame; `None` for one that is no method, or a method that means nothing here.
pub(super) async fn read(wire: &mut Wire) -> Result<Option<(Method, Arguments)>, Failure> {
    let head = wire.block(7).await?;
    let kind = head[0];
    let length = u32::from_be_bytes([head[3], head[4], head[5], head[6]]);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    // A broker of another version answers with the protocol that it speaks: "AMQP" and four numbers.
    if !matches!(kind, FRAME_METHOD | FRAME_HEARTBEAT) || length > MAX_FRAME_BYTES {
        return Err(no_amqp());
    }
    let payload = wire.block(length + 1).await?;
    if payload.last() != Some(&FRAME_END) {
        return Err(no_amqp());
    }
    if kind == FRAME_HEARTBEAT {
        return Ok(None);
    }
    let mut arguments = Arguments(payload, 0);
    let (class, number) = (arguments.u16()?, arguments.u16()?);
    Ok(Method::of(class, number).map(|method| (method, arguments)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_a_frame_of_the_specification() {
        let frame = Writer::method(1, Method::ChannelFlow).u8(1).frame();
        assert_eq!(frame, [1, 0, 1, 0, 0, 0, 5, 0, 20, 0, 20, 1, FRAME_END]);
        let frame = Writer::method(0, Method::ConnectionOpen)
            .short("/")
            .short("")
            .u8(0)
            .frame();
        assert_eq!(
            frame,
            [1, 0, 0, 0, 0, 0, 8, 0, 10, 0, 40, 1, b'/', 0, 0, FRAME_END]
        );
    }
}
