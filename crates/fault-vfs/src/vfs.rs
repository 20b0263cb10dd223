//! The functions that SQLite calls, and how they reach the disk.
//!
//! This is the only place that follows SQLite's pointers. What they point to is SQLite's promise, stated once:
//! a file's memory is ours from `xOpen` until `xClose` and is used by one thread at a time; names are strings
//! that end in zero; buffers are as long as the length beside them; places for answers can be written to.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::ffi;

use crate::Shared;
use crate::disk::{Code, Key};
use crate::shm::Shm;

/// Kinds of files whose first sync also syncs the folder, as SQLite does on Unix.
const JOURNALS: c_int = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;

/// Longer names than this are refused.
const MAX_NAME: c_int = 512;

/// A page of a disk.
const SECTOR: c_int = 4096;

/// What SQLite sets aside for an open file.
#[repr(C)]
struct OsFile {
    methods: *const ffi::sqlite3_io_methods,
    handle: *mut Handle,
}

/// An open file.
struct Handle {
    disk: Arc<Shared>,
    key: Key,
    /// The folder is synced with the file's next sync.
    sync_names: bool,
    delete: Option<String>,
    shm: Option<Arc<Shm>>,
}

/// Makes a disk known to SQLite.
pub(crate) fn register(name: &CStr, disk: &Arc<Shared>) {
    let vfs = Box::new(ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: size_of::<OsFile>() as c_int,
        mxPathname: MAX_NAME,
        pNext: std::ptr::null_mut(),
        zName: name.to_owned().into_raw(),
        pAppData: Arc::into_raw(Arc::clone(disk)).cast_mut().cast(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_pathname),
        xDlOpen: None,
        xDlError: None,
        xDlSym: None,
        xDlClose: None,
        xRandomness: Some(randomness),
        xSleep: Some(sleep),
        xCurrentTime: Some(current_time),
        xGetLastError: None,
        xCurrentTimeInt64: Some(current_time_int64),
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    });
    // A connection that outlives its disk still follows its pointer to the VFS, so this small piece of memory
    // is never given back.
    let vfs = Box::leak(vfs);
    // SAFETY: the VFS stays where it is for ever, and all of its functions are set as SQLite wants them.
    let code = unsafe { ffi::sqlite3_vfs_register(vfs, 0) };
    assert_eq!(code, ffi::SQLITE_OK, "SQLite takes another VFS");
}

/// Makes a disk unknown to SQLite; connections that are open stay as they are.
pub(crate) fn unregister(name: &CStr) {
    // SAFETY: the name ends in zero, and what is found was registered above.
    unsafe {
        let vfs = ffi::sqlite3_vfs_find(name.as_ptr());
        if !vfs.is_null() {
            ffi::sqlite3_vfs_unregister(vfs);
        }
    }
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// The disk of a VFS.
///
/// # Safety
/// The pointer is to a VFS of [`register`].
unsafe fn disk_of(vfs: *mut ffi::sqlite3_vfs) -> Arc<Shared> {
    // SAFETY: `pAppData` was made of an `Arc` that is never given back, so there is one more to be had.
    unsafe {
        let shared = (*vfs).pAppData.cast::<Shared>().cast_const();
        Arc::increment_strong_count(shared);
        Arc::from_raw(shared)
    }
}

/// The open file behind SQLite's pointer.
///
/// # Safety
/// The pointer is to a file that [`open`] has opened and [`close`] has not closed.
unsafe fn handle<'a>(file: *mut ffi::sqlite3_file) -> &'a mut Handle {
    // SAFETY: by the promise of the caller; SQLite uses a file on one thread at a time.
    unsafe { &mut *(*file.cast::<OsFile>()).handle }
}

/// The last part of a path: the disk has one folder.
///
/// # Safety
/// The pointer is null or to a string that ends in zero.
unsafe fn name_of(name: *const c_char) -> Option<String> {
    if name.is_null() {
        return None;
    }
    // SAFETY: by the promise of the caller.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    Path::new(&*name).file_name().map(|name| name.to_string_lossy().into_owned())
}

fn code(result: Result<(), Code>) -> c_int {
    result.err().unwrap_or(ffi::SQLITE_OK)
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let file = file.cast::<OsFile>();
    // SAFETY: SQLite's promise; there is room for an `OsFile`. Without methods it will not be closed.
    let (disk, name) = unsafe {
        file.write(OsFile { methods: std::ptr::null(), handle: std::ptr::null_mut() });
        (disk_of(vfs), name_of(name))
    };
    let opened = disk.lock().open(name.as_deref(), flags);
    let key = match opened {
        Ok(key) => key,
        Err(code) => return code,
    };
    let delete = name.filter(|_| flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0);
    let sync_names = flags & ffi::SQLITE_OPEN_CREATE != 0 && flags & JOURNALS != 0;
    let handle = Box::into_raw(Box::new(Handle { disk, key, sync_names, delete, shm: None }));
    // SAFETY: SQLite's promise; the flags are only wanted where there is a place for them.
    unsafe {
        file.write(OsFile { methods: &raw const METHODS, handle });
        if !out_flags.is_null() {
            out_flags.write(flags);
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite's promise; `open` made the handle of a box, and this is the last use of it.
    let mut handle = unsafe { Box::from_raw((*file.cast::<OsFile>()).handle) };
    leave_shm(&mut handle);
    let mut disk = handle.disk.lock();
    disk.close(handle.key);
    if let Some(name) = &handle.delete {
        let _ = disk.delete(name, false);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    to: *mut c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: SQLite's promise. The buffer may be uninitialised, so it is cleared before it is borrowed.
    let (handle, to) = unsafe {
        to.cast::<u8>().write_bytes(0, length as usize);
        (handle(file), std::slice::from_raw_parts_mut(to.cast::<u8>(), length as usize))
    };
    code(handle.disk.lock().read(handle.key, to, offset as usize))
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    from: *const c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: SQLite's promise.
    let (handle, from) =
        unsafe { (handle(file), std::slice::from_raw_parts(from.cast::<u8>(), length as usize)) };
    code(handle.disk.lock().write(handle.key, from, offset as usize))
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, length: i64) -> c_int {
    // SAFETY: SQLite's promise.
    let handle = unsafe { handle(file) };
    code(handle.disk.lock().truncate(handle.key, length as usize))
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: SQLite's promise.
    let handle = unsafe { handle(file) };
    let synced = handle.disk.lock().sync(handle.key, handle.sync_names);
    handle.sync_names &= synced.is_err();
    code(synced)
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: SQLite's promise.
    let handle = unsafe { handle(file) };
    let found = handle.disk.lock().size(handle.key);
    code(found.map(|found| {
        // SAFETY: SQLite's promise.
        unsafe { size.write(found as i64) }
    }))
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: SQLite's promise.
    let handle = unsafe { handle(file) };
    code(handle.disk.lock().lock(handle.key, level))
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: SQLite's promise.
    let handle = unsafe { handle(file) };
    handle.disk.lock().unlock(handle.key, level);
    ffi::SQLITE_OK
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, answer: *mut c_int) -> c_int {
    // SAFETY: SQLite's promise.
    let handle = unsafe { handle(file) };
    let found = handle.disk.lock().reserved(handle.key);
    code(found.map(|found| {
        // SAFETY: SQLite's promise.
        unsafe { answer.write(c_int::from(found)) }
    }))
}

/// Nothing that SQLite may ask for is known here; it goes on without.
unsafe extern "C" fn file_control(_file: *mut ffi::sqlite3_file, _op: c_int, _arg: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_file: *mut ffi::sqlite3_file) -> c_int {
    SECTOR
}

/// As SQLite takes every disk on Unix to be: a write does not harm its neighbours.
unsafe extern "C" fn device_characteristics(_file: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    index: c_int,
    bytes: c_int,
    extend: c_int,
    to: *mut *mut c_void,
) -> c_int {
    // SAFETY: SQLite's promise. An address is there in any case.
    let handle = unsafe {
        to.write(std::ptr::null_mut());
        handle(file)
    };
    let shm = match &handle.shm {
        Some(shm) => Arc::clone(shm),
        None => match handle.disk.lock().shm(handle.key) {
            Ok(shm) => shm,
            Err(code) => return code,
        },
    };
    handle.shm = Some(Arc::clone(&shm));
    let make = || match extend {
        0 => Ok(false),
        _ => handle.disk.lock().grow_shm(handle.key).map(|()| true),
    };
    code(shm.region(index as usize, bytes as usize, make).map(|region| {
        // SAFETY: SQLite's promise. The region lives at least as long as the handle has it mapped.
        unsafe { to.write(region.cast()) }
    }))
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    offset: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: SQLite's promise.
    let handle = unsafe { handle(file) };
    let Some(shm) = &handle.shm else { return ffi::SQLITE_IOERR_SHMLOCK };
    let mask = (1u32 << (offset + count)) - (1u32 << offset);
    if flags & ffi::SQLITE_SHM_UNLOCK != 0 {
        shm.unlock(handle.key.handle, mask);
        return ffi::SQLITE_OK;
    }
    if !handle.disk.lock().is_alive(handle.key) {
        return ffi::SQLITE_IOERR_SHMLOCK;
    }
    let alone = flags & ffi::SQLITE_SHM_EXCLUSIVE != 0;
    if shm.lock(handle.key.handle, mask, alone) { ffi::SQLITE_OK } else { ffi::SQLITE_BUSY }
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    // SAFETY: SQLite's promise.
    if let Some(shm) = unsafe { &handle(file).shm } {
        shm.barrier();
    }
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, _delete: c_int) -> c_int {
    // SAFETY: SQLite's promise; it has given up the addresses of all regions.
    leave_shm(unsafe { handle(file) });
    ffi::SQLITE_OK
}

/// Who maps shared memory when nobody else does begins with an empty one, so nothing is kept for later.
fn leave_shm(handle: &mut Handle) {
    if let Some(shm) = handle.shm.take() {
        shm.leave(handle.key.handle);
    }
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync_names: c_int) -> c_int {
    // SAFETY: SQLite's promise.
    let (disk, name) = unsafe { (disk_of(vfs), name_of(name)) };
    code(disk.lock().delete(&name.unwrap_or_default(), sync_names != 0))
}

unsafe extern "C" fn access(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    answer: *mut c_int,
) -> c_int {
    // SAFETY: SQLite's promise.
    let (disk, name) = unsafe { (disk_of(vfs), name_of(name)) };
    let length = disk.lock().length(&name.unwrap_or_default());
    // An empty file counts as none, as on Unix.
    let found = length.is_some_and(|length| length > 0 || flags != ffi::SQLITE_ACCESS_EXISTS);
    // SAFETY: SQLite's promise.
    unsafe { answer.write(c_int::from(found)) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn full_pathname(
    _vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    length: c_int,
    to: *mut c_char,
) -> c_int {
    // SAFETY: SQLite's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
    if name.len() > length as usize {
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: SQLite's promise; the name was found to fit.
    unsafe { to.copy_from_nonoverlapping(name.as_ptr().cast(), name.len()) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn randomness(vfs: *mut ffi::sqlite3_vfs, length: c_int, to: *mut c_char) -> c_int {
    // SAFETY: SQLite's promise. The buffer may be uninitialised, so it is cleared before it is borrowed.
    let (disk, to) = unsafe {
        to.write_bytes(0, length as usize);
        (disk_of(vfs), std::slice::from_raw_parts_mut(to.cast::<u8>(), length as usize))
    };
    disk.lock().numbers().fill(to);
    length
}

unsafe extern "C" fn sleep(_vfs: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    std::thread::sleep(Duration::from_micros(u64::from(microseconds.max(0).unsigned_abs())));
    microseconds
}

unsafe extern "C" fn current_time(_vfs: *mut ffi::sqlite3_vfs, to: *mut f64) -> c_int {
    // SAFETY: SQLite's promise.
    unsafe { to.write(julian_milliseconds() as f64 / 86_400_000.0) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn current_time_int64(_vfs: *mut ffi::sqlite3_vfs, to: *mut i64) -> c_int {
    // SAFETY: SQLite's promise.
    unsafe { to.write(julian_milliseconds()) };
    ffi::SQLITE_OK
}

/// Milliseconds since noon in Greenwich on 24 November 4714 B.C.
fn julian_milliseconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    210_866_760_000_000 + since.as_millis() as i64
}
