//! Members of GOOSE datasets, by their names in an SCL file.

use scl::{Basic, Document, Goose};
use std::fmt::Display;
use units::{Refusal, Refuse, refusal};
use wire::goose::Member;

/// The control blocks of an SCL file, for finding members.
#[derive(Debug)]
pub struct NamedMembers {
    file: String,
    gooses: Vec<Goose>,
}

impl NamedMembers {
    /// Reads the members of an SCL file; `file` is its name in errors.
    ///
    /// # Errors
    /// Not an SCL file, or one without GOOSE.
    pub fn of_scl(octets: &[u8], file: &str) -> Result<Self, Refusal> {
        let document = scl::parse_bytes(octets).refused_of(file)?;
        let Document { gooses, left_out, .. } = document;
        if gooses.is_empty() {
            let unread = left_out.iter().find(|left| !left.is_sampled_values);
            let refusal = unread.map_or_else(
                || refusal!("no GOOSE control block is in it: give the file of the relay"),
                |left| Refusal::new(&left.problem),
            );
            return Err(refusal.of(file));
        }
        Ok(Self {
            file: file.to_owned(),
            gooses,
        })
    }

    /// The control block with that reference; without a reference, the only one of the file.
    ///
    /// # Errors
    /// There is no such control block.
    pub fn block(&self, gocb_ref: Option<&str>) -> Result<&Goose, Refusal> {
        let mut fitting = self
            .gooses
            .iter()
            .filter(|goose| gocb_ref.is_none_or(|wanted| goose.gocb_ref == wanted));
        match (fitting.next(), fitting.next()) {
            (Some(goose), None) => Ok(goose),
            (Some(_), Some(_)) => Err(self.refused(format_args!(
                "it has several control blocks: name the relay's (--goose): {}",
                self.blocks()
            ))),
            (None, _) => Err(self.refused(format_args!(
                "no control block is called {}: it has {}",
                gocb_ref.unwrap_or_default(),
                self.blocks()
            ))),
        }
    }

    /// The member of a control block with this name: `PTRC1.Tr.general`, or with its logical device, `RELAY1PROT/PTRC1.Tr.general`.
    ///
    /// # Errors
    /// There is no such member, or it is neither a boolean nor a position.
    pub fn find(&self, goose: &Goose, name: &str) -> Result<Member, Refusal> {
        let leaves = leaves(goose);
        let wanted = name.split('[').next().unwrap_or(name);
        let is_meant =
            |(text, ..): &&(String, Option<Member>, Basic)| text == wanted || text.rsplit('/').next() == Some(wanted);
        // A member that is in the dataset both alone and inside a structure counts once.
        let mut found: Vec<_> = leaves.iter().filter(is_meant).collect();
        found.dedup_by(|again, first| again.0 == first.0);
        match found[..] {
            [(_, Some(member), Basic::Boolean | Basic::DoublePoint)] => Ok(*member),
            [(text, place, basic)] => {
                let deep = if place.is_none() {
                    ", or in a structure of a structure"
                } else {
                    ""
                };
                Err(self.refused(format_args!("{text} is {basic}{deep}: name a boolean or a position")))
            }
            [_, ..] => Err(self.refused(format_args!(
                "several members of {} are called {name}: name it with its logical device",
                goose.gocb_ref
            ))),
            [] => {
                let names: Vec<&str> = leaves.iter().map(|(text, ..)| text.as_str()).collect();
                Err(self.refused(format_args!(
                    "no member of {} is called {name}: it has {}",
                    goose.gocb_ref,
                    names.join(", ")
                )))
            }
        }
    }

    fn blocks(&self) -> String {
        let names: Vec<&str> = self.gooses.iter().map(|goose| goose.gocb_ref.as_str()).collect();
        names.join(", ")
    }

    fn refused(&self, reason: impl Display) -> Refusal {
        Refusal::new(reason).of(&self.file)
    }
}

/// The basic values of a dataset: their names, their places (`None`: deeper than a part of a structure), and their types.
fn leaves(goose: &Goose) -> Vec<(String, Option<Member>, Basic)> {
    let members = goose.data_set.members.iter().enumerate();
    let of_member = |(entry, member): (usize, &scl::Member)| {
        let reference = member.reference.split('[').next().unwrap_or_default().to_owned();
        let leaves = member.leaves();
        let is_flat = leaves.iter().all(|(path, _)| !path.contains('.'));
        let named = leaves.into_iter().enumerate().map(move |(part, (path, basic))| {
            let place = match (u8::try_from(entry), u8::try_from(part)) {
                (Ok(entry), _) if path.is_empty() => Some(Member::numbered(entry)),
                (Ok(entry), Ok(part)) if is_flat => Some(Member::part(entry, part)),
                _ => None,
            };
            let name = if path.is_empty() {
                reference.clone()
            } else {
                format!("{reference}.{path}")
            };
            (name, place, basic)
        });
        named.collect::<Vec<_>>()
    };
    members.flat_map(of_member).collect()
}

#[cfg(test)]
mod tests {
    use super::NamedMembers;

    const STATION: &str = include_str!("../../tests/data/station.scd");

    #[test]
    fn members_are_found_by_their_names() {
        let named = NamedMembers::of_scl(STATION.as_bytes(), "station.scd").expect("a file");
        let block = named.block(Some("RELAY1PROT/LLN0$GO$gcbTrip")).expect("a block");
        let found = |name: &str| named.find(block, name).map(|member| member.to_string());
        let refused = |name: &str| found(name).expect_err(name).to_string();
        assert_eq!(found("PTRC1.Tr.general").expect("a boolean"), "0");
        assert_eq!(found("RELAY1PROT/PTRC1.Tr.general[ST]").expect("a boolean"), "0");
        assert_eq!(found("XCBR1.Pos.stVal").expect("a position"), "3");
        assert!(refused("PTRC1.Tr.q").contains("name a boolean or a position"));
        assert!(refused("PTRC9.Tr").contains("it has RELAY1PROT/PTRC1.Tr.general"));
        assert!(
            named
                .block(None)
                .is_err_and(|error| error.to_string().contains("--goose"))
                || named.gooses.len() == 1
        );
        assert!(
            named
                .block(Some("x"))
                .is_err_and(|error| error.to_string().contains("gcbTrip"))
        );
    }
}
