//! Bulk copies: `cp.async.bulk`, its tensor forms and reductions, `st.async` (PTX ISA 9.7.9.25.4-5, 9.7.9.12).

mod copy;
mod finish;
mod groups;
mod issue;
mod message;
mod operation;
mod tensor;

pub use copy::copy;
pub use finish::{finish, tick};
pub use groups::{commit, wait};
pub use message::{message, respond};
pub use operation::{Engine, Groups, Operation, Origin};
pub use tensor::tensor;
