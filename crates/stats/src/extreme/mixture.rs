use super::Refusal;
pub(super) fn check(_sorted: &[f64], _ll: f64, _k: usize) -> Result<(), Refusal> { Ok(()) }
