//! An image for the emulated driver: an ELF file with the marks of a cubin, which holds text or bytecode in the place of
//! machine code. Clients look for these marks before they load an image (cutile-rs does, and so does `fatbinary`).

use object::elf::{EM_CUDA, ET_EXEC, SHT_PROGBITS};
use object::write::elf::{FileHeader, SectionHeader, Writer};

use crate::target::Target;

/// What an image holds; the emulated driver knows each by the name of its section.
#[derive(Clone, Copy)]
pub enum Content {
    /// PTX, with the launch manifest inside
    Ptx,
    /// Tile IR bytecode
    Bytecode,
}

impl Content {
    fn section(self) -> &'static [u8] {
        match self {
            Content::Ptx => b".tilec.ptx",
            Content::Bytecode => b".tilec.bytecode",
        }
    }
}

/// `e_ident`'s OS and ABI version, and the bits of `e_flags` beside the architecture, as `ptxas` 13.5 writes them.
const OS_ABI: u8 = 0x41;
const ABI_VERSION: u8 = 8;
const FLAGS: u32 = 0x0c00_0004;

/// The image for a GPU: `bytes` in a section of its own.
pub fn image(content: Content, bytes: &[u8], target: Target) -> object::write::Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut writer = Writer::new(object::Endianness::Little, true, &mut file);
    writer.reserve_file_header();
    let name = writer.add_section_name(content.section());
    let offset = writer.reserve(bytes.len(), 1);
    writer.reserve_null_section_index();
    writer.reserve_section_index();
    writer.reserve_shstrtab_section_index();
    writer.reserve_shstrtab();
    writer.reserve_section_headers();

    writer.write_file_header(&FileHeader {
        os_abi: OS_ABI,
        abi_version: ABI_VERSION,
        e_type: ET_EXEC,
        e_machine: EM_CUDA,
        e_entry: 0,
        e_flags: FLAGS | u32::from(target.sm) << 8,
    })?;
    writer.write(bytes);
    writer.write_shstrtab();
    writer.write_null_section_header();
    writer.write_section_header(&SectionHeader {
        name: Some(name),
        sh_type: SHT_PROGBITS,
        sh_flags: 0,
        sh_addr: 0,
        sh_offset: offset as u64,
        sh_size: bytes.len() as u64,
        sh_link: 0,
        sh_info: 0,
        sh_addralign: 1,
        sh_entsize: 0,
    });
    writer.write_shstrtab_section_header();
    Ok(file)
}
