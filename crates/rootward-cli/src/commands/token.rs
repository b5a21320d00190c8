//! `rootward token`

use std::time::{Duration, SystemTime};

use crate::arguments::Token;
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) fn run(arguments: &Token, _terminal: &Terminal) -> Result<Exit, Trouble> {
    let mut random = [0; 40];
    getrandom::fill(&mut random).map_err(|error| {
        Trouble::new(
            Exit::CouldNotStart,
            format!("the system gives no random numbers: {error}"),
        )
    })?;
    let token = rootward::Token::from_random(random);
    let digest = token.digest();
    let digest = match arguments.days.and_then(|days| u32::try_from(days).ok()) {
        Some(days) => digest.expiring(SystemTime::now() + DAY * days),
        None => digest,
    };
    Terminal::put(format!("token   {}\ndigest  {digest}\n", token.expose()).as_bytes())?;
    Ok(Exit::Well)
}
