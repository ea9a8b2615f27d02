//! Kernels that tilec did not write, run and compared with what numpy computed. `kernels/README.md` says how they are
//! described; every file of `kernels/{cuda,triton,tile}` is one test here.

mod common;
#[path = "common/foreign.rs"]
mod foreign;

macro_rules! kernels {
    ($($producer:ident: $($file:ident)*;)*) => {
        $(mod $producer {
            $(#[test]
            fn $file() {
                super::foreign::check(stringify!($producer), stringify!($file));
            })*
        })*
        const FILES: &[(&str, &[&str])] = &[$((stringify!($producer), &[$(stringify!($file)),*])),*];
    };
}

kernels! {
    cuda: arithmetic clusters collectives convolution cooperative forms forms_blackwell forms_memory hopper_attention hopper_copies hopper_products libraries memory products
        programs products_scaled products_short products_sparse scans synchronisation tensor_copies tensor_moves tensor_pairs tensor_products tensor_scaled;
    triton: blackwell blocks hopper products;
    tile: basics operations programs;
}

#[test]
fn every_file_is_a_test() {
    for (producer, files) in FILES {
        let mut listed: Vec<String> = files.iter().map(|f| f.to_string()).collect();
        listed.sort();
        assert_eq!(listed, foreign::files(producer), "{producer}");
    }
}

#[test]
fn readme_lists_every_kernel() {
    foreign::describe(&["table".as_ref()]);
}
