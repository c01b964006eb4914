//! Booleans of other devices: followed while their messages are valid, with samples and without.

use relay::Engine;
use relay::config::{Config, Feed, parse};
use relay::engine::State;
use relay::inputs::{Inputs, Listener};
use wire::ether::Mac;
use wire::goose::{Message, Value};

const MS: i64 = 1_000_000;

fn text(input: &str, member: &str) -> String {
    format!(
        r#"
        [relay]
        name = "R"
        [[stream]]
        name = "bay"
        sv = {{ svID = "MU01" }}
        [[input]]
        name = "ping"
        {input}
        [[goose]]
        gocb_ref = "RLD0/LLN0$GO$pong"
        dat_set = "RLD0/LLN0$ds"
        dst = "01:0c:cd:01:00:02"
        appid = 2
        member = [{{ name = "{member}", type = "boolean" }}]
    "#
    )
}

fn relay() -> Config {
    parse(&text(r#"gocb_ref = "TEST/LLN0$GO$ping""#, "input:ping"), "r.toml").expect("a relay")
}

fn message(st_num: u32, value: bool) -> Message {
    Message {
        dst: Mac([1; 6]),
        src: Mac([2; 6]),
        gocb_ref: b"TEST/LLN0$GO$ping".to_vec(),
        time_allowed_to_live: 20,
        dat_set: b"d".to_vec(),
        st_num,
        sq_num: 0,
        all_data: vec![Value::Boolean(value)],
        ..Message::default()
    }
}

/// The relay's published value in a task at this time in ms after these inputs, and true if it is new.
fn task(
    engine: &mut Engine,
    (listener, inputs): (&mut Listener, &mut Inputs),
    came: Option<&Message>,
    at_ms: i64,
) -> (bool, State) {
    if let Some(message) = came {
        let octets = message.encode().expect("a message");
        listener.take(&octets, None, at_ms * MS, |number, input| inputs.set(number, input));
    }
    inputs.tell(engine, at_ms * MS);
    let is_new = engine.task(0).gooses == 1;
    (is_new, engine.output(Feed::Input(0)))
}

#[test]
fn an_input_is_followed_without_samples_and_false_when_it_expires() {
    let config = relay();
    let mut engine = Engine::new(&config).expect("a relay");
    let (mut listener, mut inputs) = (Listener::new(&config), Inputs::new(&config));
    let [on, off] = [State::Boolean(true), State::Boolean(false)];
    let mut at = |came: Option<&Message>, ms| task(&mut engine, (&mut listener, &mut inputs), came, ms);
    assert_eq!(at(None, 0), (false, off));
    assert_eq!(at(Some(&message(1, true)), 1), (true, on));
    assert_eq!(at(None, 2), (false, on));
    assert_eq!(at(Some(&message(2, false)), 3), (true, off));
    assert_eq!(at(Some(&message(3, true)), 4), (true, on));
    assert_eq!(at(None, 24), (false, on), "as long as it allows");
    assert_eq!(at(None, 25), (true, off), "and no longer");
}

/// LGOS: true while a message is live, whatever its value.
#[test]
fn the_supervision_of_an_input_is_published() {
    let config = parse(&text(r#"gocb_ref = "TEST/LLN0$GO$ping""#, "live:ping"), "r.toml").expect("a relay");
    let mut engine = Engine::new(&config).expect("a relay");
    let (mut listener, mut inputs) = (Listener::new(&config), Inputs::new(&config));
    let mut at = |came: Option<&Message>, ms| {
        let (is_new, _) = task(&mut engine, (&mut listener, &mut inputs), came, ms);
        (is_new, engine.output(Feed::Live(0)))
    };
    let [on, off] = [State::Boolean(true), State::Boolean(false)];
    assert_eq!(at(None, 0), (false, off), "none has come");
    assert_eq!(at(Some(&message(1, false)), 1), (true, on), "its value is false");
    assert_eq!(at(Some(&message(2, true)), 3), (false, on));
    assert_eq!(at(None, 23), (false, on));
    assert_eq!(at(None, 24), (true, off), "it has expired");
    assert_eq!(at(Some(&message(3, false)), 30), (true, on));
}

#[test]
fn what_is_simulated_is_no_input() {
    let mut config = relay();
    let simulated = Message {
        simulate: true,
        simulation: true,
        ..message(1, true)
    };
    let followed = |config: &Config| {
        let mut engine = Engine::new(config).expect("a relay");
        let ends = (&mut Listener::new(config), &mut Inputs::new(config));
        task(&mut engine, ends, Some(&simulated), 1).1
    };
    assert_eq!(followed(&config), State::Boolean(false));
    config.simulation = true;
    assert_eq!(followed(&config), State::Boolean(true));
}

#[test]
fn refusals_say_what_to_do() {
    let refused = |input: &str, member: &str| parse(&text(input, member), "r.toml").expect_err(input).to_string();
    let gocb_ref = r#"gocb_ref = "TEST/LLN0$GO$ping""#;
    let wrong = refused(gocb_ref, "input:pong");
    assert!(wrong.contains("no input \"pong\": did you mean \"ping\"?"), "{wrong}");
    let wrong = refused(&format!("{gocb_ref}\nmember = \"first\""), "input:ping");
    assert!(
        wrong.contains("line 7: input \"ping\": member") && wrong.contains("such as 2"),
        "{wrong}"
    );
    assert!(refused("gocb_ref = \"\"", "input:ping").contains("1 to 129"));
    let twice = format!("{gocb_ref}\n[[input]]\nname = \"ping\"\n{gocb_ref}");
    assert!(refused(&twice, "input:ping").contains("twice"));
}
