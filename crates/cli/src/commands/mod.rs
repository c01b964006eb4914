//! One file per subcommand.

pub(crate) mod audit;
pub(crate) mod capacity;
pub(crate) mod checkup;
pub(crate) mod compare;
pub(crate) mod cpus;
pub(crate) mod device;
pub(crate) mod emit;
pub(crate) mod export;
pub(crate) mod goose;
pub(crate) mod import;
pub(crate) mod listen;
pub(crate) mod manual;
pub(crate) mod merge;
pub(crate) mod noise;
pub(crate) mod pcap;
pub(crate) mod publish;
pub(crate) mod qualify;
pub(crate) mod reflect;
pub(crate) mod relay;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod subscribe;
pub(crate) mod talk;
pub(crate) mod trace;
pub(crate) mod trip;
pub(crate) mod tune;
