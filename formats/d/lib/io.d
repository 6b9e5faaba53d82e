/* SPDX-License-Identifier: GPL-2.0 */
/* Block I/O: buffers, devices and files, from struct bio and struct file (Linux 6.1 to 6.12). */
inline int B_BUSY = 0x1;
inline int B_DONE = 0x2;
inline int B_ERROR = 0x4;
inline int B_PAGEIO = 0x10;
inline int B_PHYS = 0x20;
inline int B_READ = 0x40;
inline int B_WRITE = 0x100;
inline int B_ASYNC = 0x400;

typedef struct bufinfo {
	int b_flags;
	size_t b_bcount;
	uintptr_t b_addr;
	uint64_t b_lblkno;
	uint64_t b_blkno;
	size_t b_resid;
	size_t b_bufsize;
	uintptr_t b_iodone;
	int b_error;
	uint64_t b_edev;
} bufinfo_t;

/*
 * bi_opf: the low 8 bits are the operation (odd: towards the device), bit 11 is REQ_SYNC. A bio gets its
 * status after io:::done has fired, whose arg3 is the errno.
 */
translator bufinfo_t < struct bio *B > {
	b_flags = (B->bi_opf & 1 ? B_WRITE : B_READ) | (B->bi_opf & 0x800 ? 0 : B_ASYNC) |
	    (probeprov == "io" && probename == "done" ? B_DONE | (arg3 != 0 ? B_ERROR : 0) :
	    B->bi_status ? B_ERROR : 0);
	b_bcount = B->bi_iter.bi_size;
	b_addr = 0;
	b_lblkno = B->bi_iter.bi_sector;
	b_blkno = B->bi_iter.bi_sector;
	b_resid = 0;
	b_bufsize = B->bi_iter.bi_size;
	b_iodone = (uintptr_t)B->bi_end_io;
	b_error = probeprov == "io" ? (int)arg3 : B->bi_status;
	b_edev = B->bi_bdev->bd_dev;
};

typedef struct devinfo {
	int dev_major;
	int dev_minor;
	int dev_instance;
	string dev_name;
	string dev_statname;
	string dev_pathname;
} devinfo_t;

/* The driver is the one that registered the device's major number: a chain of the kernel's table. */
translator devinfo_t < struct bio *B > {
	dev_major = getmajor(B->bi_bdev->bd_dev);
	dev_minor = getminor(B->bi_bdev->bd_dev);
	dev_instance = 0;
	dev_name = ((struct blk_major_name **)&`major_names)[getmajor(B->bi_bdev->bd_dev) % 255] != NULL &&
	    ((struct blk_major_name **)&`major_names)[getmajor(B->bi_bdev->bd_dev) % 255]->major ==
	    getmajor(B->bi_bdev->bd_dev) ?
	    stringof(((struct blk_major_name **)&`major_names)[getmajor(B->bi_bdev->bd_dev) % 255]->name) :
	    stringof(B->bi_bdev->bd_disk->disk_name);
	dev_statname = stringof(B->bi_bdev->bd_device.kobj.name);
	dev_pathname = strjoin("/dev/", stringof(B->bi_bdev->bd_device.kobj.name));
};

typedef struct fileinfo {
	string fi_name;
	string fi_dirname;
	string fi_pathname;
	int64_t fi_offset;
	string fi_fs;
	string fi_mount;
	int fi_oflags;
} fileinfo_t;

/* Where a file system is mounted: the path of its root there. */
inline string mount_path[struct vfsmount *M] = (this->mount_path_ = (struct path *)alloca(sizeof (struct path)),
    this->mount_path_->mnt = M, this->mount_path_->dentry = M->mnt_root, d_path(this->mount_path_));

/* No file: "<none>"; one without a name (metadata, an unlinked file): "<unknown>". */
translator fileinfo_t < struct file *F > {
	fi_name = F == NULL ? "<none>" : F->f_path.dentry == NULL ? "<unknown>" :
	    stringof(F->f_path.dentry->d_name.name);
	fi_dirname = F == NULL ? "<none>" : F->f_path.dentry == NULL || F->f_path.mnt == NULL ? "<unknown>" :
	    dirname(d_path(&(F->f_path)));
	fi_pathname = F == NULL ? "<none>" : F->f_path.dentry == NULL || F->f_path.mnt == NULL ? "<unknown>" :
	    d_path(&(F->f_path));
	fi_offset = F == NULL ? 0 : F->f_pos;
	fi_fs = F == NULL ? "<none>" : stringof(F->f_inode->i_sb->s_type->name);
	fi_mount = F == NULL ? "<none>" : F->f_path.mnt == NULL ? "<unknown>" : mount_path[F->f_path.mnt];
	fi_oflags = F == NULL ? 0 : F->f_flags;
};

inline fileinfo_t fds[int fd] = xlate <fileinfo_t> (
    fd >= 0 && fd < curthread->files->fdt->max_fds ? curthread->files->fdt->fd[fd] : (struct file *)NULL);
#pragma D attributes Stable/Stable/Common fds

inline int O_ACCMODE = 0x3;
inline int O_RDONLY = 0;
inline int O_WRONLY = 1;
inline int O_RDWR = 2;
inline int O_CREAT = 0x40;
inline int O_EXCL = 0x80;
inline int O_NOCTTY = 0x100;
inline int O_TRUNC = 0x200;
inline int O_APPEND = 0x400;
inline int O_NONBLOCK = 0x800;
inline int O_NDELAY = 0x800;
inline int O_DSYNC = 0x1000;
inline int O_DIRECT = 0x4000;
inline int O_DIRECTORY = 0x10000;
inline int O_NOFOLLOW = 0x20000;
inline int O_CLOEXEC = 0x80000;
inline int O_SYNC = 0x101000;
