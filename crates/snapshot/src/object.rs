//! The tree object: the entries of one folder as bytes.
//!
//! Layout, numbers big-endian: the line `holdpoint tree 1`, then per entry, in ascending order of the names' bytes: kind (1 byte: `f`, `l`, `d`),
//! permission bits (2), size (8), digest (32), length of the name (1), name. A link has no permission bits, a folder no size. There is one
//! way to write a folder down, and reading refuses every other.

use std::ffi::{CStr, CString};

use holdpoint_core::Digest;

const MAGIC: &[u8] = b"holdpoint tree 1\n";
const FIXED: usize = 1 + 2 + 8 + 32 + 1;
/// The system's own limit of a name.
const NAME_MAX: usize = 255;
/// The system's own limit of a link's target.
pub(crate) const TARGET_MAX: u64 = 4096;
/// The permission bits that a tree keeps.
pub(crate) const PERMISSIONS: u16 = 0o777;

/// The entries of one folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    entries: Vec<Entry>,
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: Name,
    /// What it names.
    pub node: Node,
}

/// What a name in a folder names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A file.
    File {
        /// Its permission bits.
        mode: u16,
        /// Its length.
        size: u64,
        /// Its content.
        content: Digest,
    },
    /// A symbolic link.
    Link {
        /// The length of its target.
        size: u64,
        /// Its target, as the bytes of a blob.
        target: Digest,
    },
    /// A folder.
    Folder {
        /// Its permission bits.
        mode: u16,
        /// Its tree object.
        tree: Digest,
    },
}

/// A name that stays inside its folder: neither empty nor `.` nor `..`, without `/` and NUL, at most 255 bytes of any kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(CString);

impl Name {
    /// Checks a name.
    pub fn new(bytes: &[u8]) -> Result<Self, BadTree> {
        if matches!(bytes, b"" | b"." | b"..") || bytes.len() > NAME_MAX || bytes.contains(&b'/') {
            return Err(BadTree::Name);
        }
        CString::new(bytes).map(Self).map_err(|_| BadTree::Name)
    }

    /// The bytes of the name.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    pub(crate) fn as_c_str(&self) -> &CStr {
        &self.0
    }

    pub(crate) fn into_c_string(self) -> CString {
        self.0
    }
}

/// Why bytes are no tree object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTree {
    /// They do not begin as one.
    #[error("it does not begin as one")]
    Header,
    /// They end inside an entry.
    #[error("it ends inside an entry")]
    Short,
    /// A name that a folder cannot have.
    #[error("it has a name that is not allowed")]
    Name,
    /// Names that are not in ascending order, or twice the same.
    #[error("its names are not in order")]
    Order,
    /// A kind, mode or size that no entry has.
    #[error("an entry is of no known form")]
    Form,
    /// An entry beside the names that were asked for.
    #[error("it has an entry that does not belong here")]
    Scope,
    /// A link target that no system accepts.
    #[error("a link has no usable target")]
    Target,
}

/// A blob that a tree object names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// Bytes: the content of a file or the target of a link.
    Bytes(Digest),
    /// Another tree object.
    Tree(Digest),
}

impl Reference {
    /// The name of the blob.
    pub fn digest(self) -> Digest {
        match self {
            Self::Bytes(digest) | Self::Tree(digest) => digest,
        }
    }
}

/// What the bytes of a tree object name, in order; collection descends into what is a tree itself.
pub fn references(tree: &[u8]) -> Result<Vec<Reference>, BadTree> {
    Ok(Tree::decode(tree)?.entries.iter().map(|entry| entry.node.reference()).collect())
}

impl Node {
    /// The blob that it names.
    pub fn reference(self) -> Reference {
        match self {
            Self::File { content: digest, .. } | Self::Link { target: digest, .. } => {
                Reference::Bytes(digest)
            }
            Self::Folder { tree, .. } => Reference::Tree(tree),
        }
    }
}

impl Tree {
    /// A tree of these entries, in any order.
    pub fn new(mut entries: Vec<Entry>) -> Result<Self, BadTree> {
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let twice = entries.windows(2).any(|pair| pair[0].name == pair[1].name);
        if twice { Err(BadTree::Order) } else { Ok(Self { entries }) }
    }

    /// The entries, in ascending order of their names.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry with a name.
    pub fn get(&self, name: &[u8]) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|entry| entry.name.as_bytes().cmp(name)).ok()?;
        Some(&self.entries[at])
    }

    /// Adds an entry whose name comes after all others.
    pub(crate) fn push(&mut self, entry: Entry) {
        debug_assert!(self.entries.last().is_none_or(|last| last.name < entry.name), "names ascend");
        self.entries.push(entry);
    }

    /// The most bytes that an object with so many entries has.
    pub(crate) fn most_bytes(entries: u64) -> u64 {
        entries.saturating_mul((FIXED + NAME_MAX) as u64).saturating_add(MAGIC.len() as u64)
    }

    /// The bytes of the object.
    pub fn encode(&self) -> Vec<u8> {
        let names: usize = self.entries.iter().map(|entry| entry.name.as_bytes().len()).sum();
        let mut bytes = Vec::with_capacity(MAGIC.len() + self.entries.len() * FIXED + names);
        bytes.extend(MAGIC);
        for Entry { name, node } in &self.entries {
            let (kind, mode, size) = match *node {
                Node::File { mode, size, .. } => (b'f', mode, size),
                Node::Link { size, .. } => (b'l', 0, size),
                Node::Folder { mode, .. } => (b'd', mode, 0),
            };
            bytes.push(kind);
            bytes.extend(mode.to_be_bytes());
            bytes.extend(size.to_be_bytes());
            bytes.extend(node.reference().digest().0);
            bytes.push(u8::try_from(name.as_bytes().len()).expect("a name has at most 255 bytes"));
            bytes.extend(name.as_bytes());
        }
        bytes
    }

    /// Reads the bytes of an object.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadTree> {
        let mut rest = bytes.strip_prefix(MAGIC).ok_or(BadTree::Header)?;
        let mut tree = Self::default();
        while !rest.is_empty() {
            let entry = entry(&mut rest)?;
            if tree.entries.last().is_some_and(|last| last.name >= entry.name) {
                return Err(BadTree::Order);
            }
            tree.entries.push(entry);
        }
        Ok(tree)
    }
}

fn entry(rest: &mut &[u8]) -> Result<Entry, BadTree> {
    let [kind] = take(rest)?;
    let mode = u16::from_be_bytes(take(rest)?);
    let size = u64::from_be_bytes(take(rest)?);
    let digest = Digest(take(rest)?);
    let [length] = take(rest)?;
    let (name, after) = rest.split_at_checked(usize::from(length)).ok_or(BadTree::Short)?;
    *rest = after;
    let node = match (kind, mode, size) {
        (b'f', 0..=PERMISSIONS, size) => Node::File { mode, size, content: digest },
        (b'l', 0, 1..=TARGET_MAX) => Node::Link { size, target: digest },
        (b'd', 0..=PERMISSIONS, 0) => Node::Folder { mode, tree: digest },
        _ => return Err(BadTree::Form),
    };
    Ok(Entry { name: Name::new(name)?, node })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], BadTree> {
    let (taken, after) = rest.split_first_chunk::<N>().ok_or(BadTree::Short)?;
    *rest = after;
    Ok(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Tree {
        let of = |name: &[u8], node| Entry { name: Name::new(name).expect("a name"), node };
        let digest = Digest::of(b"x");
        let entries = vec![
            of(b"b", Node::Folder { mode: 0o700, tree: digest }),
            of(b"a\xff", Node::Link { size: 1, target: digest }),
            of(b"a\xfe", Node::File { mode: 0o755, size: 3, content: digest }),
        ];
        assert_eq!(Tree::new(vec![entries[0].clone(), entries[0].clone()]), Err(BadTree::Order));
        Tree::new(entries).expect("three names")
    }

    #[test]
    fn a_tree_reads_back_and_names_its_blobs() {
        let bytes = sample().encode();
        assert_eq!(Tree::decode(&bytes), Ok(sample()));
        let digest = Digest::of(b"x");
        let named = [Reference::Bytes(digest), Reference::Bytes(digest), Reference::Tree(digest)];
        assert_eq!(references(&bytes), Ok(named.to_vec()));
        assert_eq!(references(&Tree::default().encode()), Ok(vec![]));
        assert!(sample().get(b"a\xff").is_some() && sample().get(b"a").is_none());
    }

    #[test]
    fn the_bytes_of_a_tree_never_change() {
        let digest = Digest::of(&sample().encode()).to_string();
        assert_eq!(digest, "cac3642bf4120a78c66a000494302136c1e37d6dd93919b5d44b358a006d879d");
    }

    #[test]
    fn there_is_one_way_to_write_a_folder_down() {
        let good = sample().encode();
        assert_eq!(Tree::decode(b""), Err(BadTree::Header));
        assert_eq!(Tree::decode(b"some file"), Err(BadTree::Header));
        let first = MAGIC.len();
        for end in first + 1..good.len() {
            let cut = Tree::decode(&good[..end]);
            assert!(cut.is_err() || cut.is_ok_and(|tree| tree.entries.len() < 3), "{end}");
        }
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            Tree::decode(&bytes)
        };
        assert_eq!(with(first, b'x'), Err(BadTree::Form));
        assert_eq!(with(first + 1, 0xff), Err(BadTree::Form), "mode beyond 0o777");
        let second = first + FIXED + 2;
        assert_eq!(with(second + 2, 1), Err(BadTree::Form), "a link has no mode");
        assert_eq!(with(second + 3, 1), Err(BadTree::Form), "a target beyond 4096 bytes");
        assert_eq!(with(first + FIXED, b'c'), Err(BadTree::Order));
        assert_eq!(with(first + FIXED + 1, 0xff), Err(BadTree::Order), "twice the same name");
        assert_eq!(with(first + FIXED, b'/'), Err(BadTree::Name));
    }

    #[test]
    fn a_name_stays_inside_its_folder() {
        for bad in [&b""[..], b".", b"..", b"a/b", b"/", b"a\0", &[b'a'; 256]] {
            assert_eq!(Name::new(bad), Err(BadTree::Name), "{bad:?}");
        }
        for good in [&b"..."[..], b".git", b"\xff", b" ", &[b'a'; 255]] {
            assert_eq!(Name::new(good).expect("a name").as_bytes(), good);
        }
    }
}
