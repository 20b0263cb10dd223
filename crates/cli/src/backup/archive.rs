//! Writing an archive and reading it, with the hash of everything.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::{Component, Path};

use holdpoint_core::Digest;
use sha2::{Digest as _, Sha256};
use tar::{Archive, Builder, EntryType, Header as Tar};

use super::{Entry, FORMAT, HEADER, Header, MANIFEST, Manifest};

/// Quick, and small enough: most blobs are compressed already.
const LEVEL: i32 = 1;
/// The largest header or list of entries that is read.
const LARGEST: u64 = 1 << 30;

/// Writes an archive.
pub struct Writer {
    tar: Builder<zstd::Encoder<'static, BufWriter<File>>>,
    entries: BTreeMap<String, Entry>,
}

impl Writer {
    /// Begins an archive in a file that is empty.
    pub fn new(file: File, header: &Header) -> io::Result<Self> {
        let mut encoder = zstd::Encoder::new(BufWriter::new(file), LEVEL)?;
        encoder.include_checksum(true)?;
        let tar = Builder::new(encoder);
        let mut writer = Self { tar, entries: BTreeMap::new() };
        writer.add(HEADER, &serde_json::to_vec_pretty(header)?)?;
        Ok(writer)
    }

    /// Adds a file. One that changes its size meanwhile is refused.
    pub fn add_file(&mut self, name: &str, path: &Path) -> io::Result<()> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        self.write(name, size, BufReader::new(file))
    }

    fn add(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write(name, bytes.len() as u64, bytes)
    }

    fn write(&mut self, name: &str, size: u64, content: impl Read) -> io::Result<()> {
        let mut head = Tar::new_gnu();
        head.set_entry_type(EntryType::Regular);
        head.set_mode(0o600);
        head.set_size(size);
        let mut content = Hashed { inner: content.take(size), hasher: Sha256::new(), size: 0 };
        self.tar.append_data(&mut head, name, &mut content)?;
        if content.size != size {
            return Err(io::Error::other(format!("{name} became shorter while it was copied")));
        }
        let entry = Entry { size, sha256: content.finish() };
        self.entries.insert(name.to_owned(), entry);
        Ok(())
    }

    /// Adds the list of entries, and answers when everything is on the disk.
    pub fn finish(mut self, about: impl FnOnce(BTreeMap<String, Entry>) -> Manifest) -> io::Result<Manifest> {
        let manifest = about(std::mem::take(&mut self.entries));
        self.add(MANIFEST, &serde_json::to_vec(&manifest)?)?;
        let file = self.tar.into_inner()?.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(manifest)
    }
}

/// Reads an archive.
pub struct Reader {
    tar: Archive<zstd::Decoder<'static, BufReader<File>>>,
}

impl Reader {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { tar: Archive::new(zstd::Decoder::new(File::open(path)?)?) })
    }

    /// Hands every file to `take` while it is read, and answers with the list once everything was what the list says.
    pub fn read(
        mut self,
        mut take: impl FnMut(&str, &mut dyn Read) -> io::Result<()>,
    ) -> io::Result<Manifest> {
        let mut found = BTreeMap::new();
        let mut manifest = None;
        for entry in self.tar.entries()? {
            let entry = entry?;
            if manifest.is_some() {
                return Err(damaged("there is more behind the list of entries"));
            }
            let path = entry.path()?.into_owned();
            let plain = entry.header().entry_type() == EntryType::Regular
                && path.components().all(|part| matches!(part, Component::Normal(_)));
            let Some(name) = path.to_str().filter(|_| plain).map(ToOwned::to_owned) else {
                return Err(damaged(&format!("`{}` is no file of a home", path.display())));
            };
            let size = entry.size();
            let mut content = Hashed { inner: entry, hasher: Sha256::new(), size: 0 };
            match (name.as_str(), found.is_empty()) {
                (HEADER, true) => check_header(&small(&mut content)?)?,
                (_, true) => return Err(damaged("it is no backup of Holdpoint")),
                (MANIFEST, _) => {
                    let read = serde_json::from_slice::<Manifest>(&small(&mut content)?);
                    manifest = Some(read.map_err(|error| damaged(&error.to_string()))?);
                    continue;
                }
                _ => take(&name, &mut content)?,
            }
            io::copy(&mut content, &mut io::sink())?;
            found.insert(name, Entry { size, sha256: content.finish() });
        }
        // The checksum of all is at the end.
        io::copy(&mut self.tar.into_inner(), &mut io::sink())?;
        let manifest = manifest.ok_or_else(|| damaged("it was cut off"))?;
        let wrong = manifest.entries.iter().find(|(name, entry)| found.get(*name) != Some(entry));
        if let Some((name, _)) = wrong {
            return Err(damaged(&format!("`{name}` is not what was written")));
        }
        if let Some((name, _)) = found.iter().find(|(name, _)| !manifest.entries.contains_key(*name)) {
            return Err(damaged(&format!("`{name}` is not in its list")));
        }
        Ok(manifest)
    }
}

/// Reads an archive to its end, and compares everything with its list.
pub fn verify(path: &Path) -> io::Result<Manifest> {
    Reader::open(path)?.read(|_, _| Ok(()))
}

fn check_header(bytes: &[u8]) -> io::Result<()> {
    let header: Header = serde_json::from_slice(bytes).map_err(|error| damaged(&error.to_string()))?;
    if header.format > FORMAT {
        let written = format!("it has format {}, written by version {}", header.format, header.version);
        return Err(io::Error::new(io::ErrorKind::Unsupported, written));
    }
    Ok(())
}

fn small(content: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    content.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}

/// Hashes what is read through it.
struct Hashed<R> {
    inner: R,
    hasher: Sha256,
    size: u64,
}

impl<R> Hashed<R> {
    fn finish(self) -> String {
        Digest(self.hasher.finalize().into()).to_string()
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.hasher.update(&into[..count]);
        self.size += count as u64;
        Ok(count)
    }
}
