// SPDX-License-Identifier: GPL-2.0
/* Open file -> role -> session or reader.  The role is set once, under a lock, and kept. */
#include "device/device.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include <nslice/control.h>

#include "compat.h"
#include "device/requests.h"
#include "request.h"
#include "session/session.h"
#include "trace/reader.h"

/* One open file.  session and reader are set once, at most one of them. */
struct open_file {
	struct mutex lock; /* protects setting the role */
	struct nsmod_session *session;
	struct nsmod_reader *reader;
};

static int nsmod_open(struct inode *inode, struct file *file)
{
	struct open_file *own = kzalloc(sizeof(*own), GFP_KERNEL_ACCOUNT);

	if (!own)
		return -ENOMEM;
	mutex_init(&own->lock);
	file->private_data = own;
	return stream_open(inode, file);
}

static int nsmod_release(struct inode *inode, struct file *file)
{
	struct open_file *own = file->private_data;

	if (own->session)
		nsmod_session_release(own->session);
	if (own->reader)
		nsmod_reader_close(own->reader);
	kfree(own);
	return 0;
}

/* Under the lock. */
static bool has_role(const struct open_file *own)
{
	return own->session || own->reader;
}

static struct nsmod_session *session_of(struct open_file *own)
{
	return smp_load_acquire(&own->session); /* pairs with the release in become_session() */
}

static long become_session(struct open_file *own, void __user *at)
{
	struct nslice_session_request request;
	struct nsmod_session *session;
	int err = nsmod_request_take(&request, sizeof(request), at);

	if (err)
		return err;
	if ((request.flags & ~NSLICE_SESSION_DRAINED) || !nsmod_is_ring_size(request.ring_bytes))
		return -EINVAL;
	if (PAGE_SIZE != NSLICE_RING_META_BYTES)
		return -EOPNOTSUPP;
	if (has_role(own))
		return -EBADFD;
	session = nsmod_session_create(request.ring_bytes, request.flags);
	if (IS_ERR(session))
		return PTR_ERR(session);
	request.cpus = session->memory.cpus;
	request.id = session->id;
	request.memory_bytes = session->memory.bytes;
	smp_store_release(&own->session, session); /* pairs with the acquire in session_of() */
	return nsmod_request_answer(at, &request, sizeof(request));
}

static long become_reader(struct open_file *own, void __user *at)
{
	struct nslice_reader_request request;
	struct nsmod_reader *reader;
	int err = nsmod_request_take(&request, sizeof(request), at);

	if (err)
		return err;
	if ((request.flags & ~NSLICE_READER_SNAPSHOT) || request.reserved || ((request.flags & NSLICE_READER_SNAPSHOT) && !request.session))
		return -EINVAL;
	if (has_role(own))
		return -EBADFD;
	reader = nsmod_reader_open(request.session, request.flags);
	if (IS_ERR(reader))
		return PTR_ERR(reader);
	smp_store_release(&own->reader, reader); /* pairs with the acquire in reader_of() */
	return 0;
}

static long become_kernel(struct open_file *own, void __user *at)
{
	struct nsmod_kernel_request request;
	struct nsmod_reader *reader;
	int err;

	/* Kernel records show the activity of all users. */
	if (!perfmon_capable())
		return -EPERM;
	err = nsmod_request_take_kernel(&request, at);
	if (err)
		return err;
	reader = has_role(own) ? ERR_PTR(-EBADFD) : nsmod_reader_open_kernel(&request);
	nsmod_kernel_request_free(&request);
	if (IS_ERR(reader))
		return PTR_ERR(reader);
	smp_store_release(&own->reader, reader); /* pairs with the acquire in reader_of() */
	return 0;
}

/* Only for who may request kernel records, and has the file of this recording. */
static long select_slices(struct open_file *own, void __user *at)
{
	char *slices;
	int err;

	if (!perfmon_capable())
		return -EPERM;
	err = nsmod_request_take_slices(&slices, at);
	if (err)
		return err;
	err = own->reader ? nsmod_reader_select(own->reader, slices) : -EBADFD;
	kfree(slices);
	return err;
}

static long end(struct open_file *own)
{
	if (own->session)
		nsmod_session_end(own->session);
	else if (own->reader)
		nsmod_reader_end(own->reader);
	else
		return -EBADFD;
	return 0;
}

static long ioctl_locked(struct open_file *own, unsigned int command, void __user *at)
{
	switch (command) {
	case NSLICE_IOC_SESSION:
		return become_session(own, at);
	case NSLICE_IOC_READER:
		return become_reader(own, at);
	case NSLICE_IOC_KERNEL:
		return become_kernel(own, at);
	case NSLICE_IOC_SLICES:
		return select_slices(own, at);
	case NSLICE_IOC_END:
		return end(own);
	default:
		return -ENOTTY;
	}
}

static long nsmod_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct open_file *own = file->private_data;
	void __user *at = (void __user *)argument;
	long result;

	switch (command) {
	case NSLICE_IOC_VERSION:
		return nsmod_request_version(at);
	case NSLICE_IOC_LIST:
		return nsmod_request_list(at);
	case NSLICE_IOC_GROUPS:
		return nsmod_request_groups(at);
	case NSLICE_IOC_MEASURE:
		return nsmod_request_measure(at);
	}
	if (mutex_lock_interruptible(&own->lock))
		return -ERESTARTSYS;
	result = ioctl_locked(own, command, at);
	mutex_unlock(&own->lock);
	return result;
}

static int nsmod_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct nsmod_session *session = session_of(file->private_data);

	return session ? nsmod_memory_mmap(&session->memory, vma) : -EBADFD;
}

/*
 * Uses the rights of the process that opened the file, not of the one that
 * reads it first, which may be a root program with the file as standard input.
 */
static struct nsmod_reader *plain_reader(const struct file *file)
{
	const struct cred *own = override_creds(file->f_cred);
	struct nsmod_reader *reader = nsmod_reader_open_plain();

	revert_creds(own);
	return reader;
}

/* `cat /dev/nsmod`: a read() on a fresh file makes it a reader of any session. */
static struct nsmod_reader *reader_of(const struct file *file)
{
	struct open_file *own = file->private_data;
	struct nsmod_reader *reader = smp_load_acquire(&own->reader); /* pairs with its release */

	if (reader)
		return reader;
	if (mutex_lock_interruptible(&own->lock))
		return ERR_PTR(-ERESTARTSYS);
	reader = own->reader;
	if (!reader)
		reader = own->session ? ERR_PTR(-EBADFD) : plain_reader(file);
	if (!IS_ERR(reader))
		smp_store_release(&own->reader, reader); /* pairs with the acquire in reader_of() */
	mutex_unlock(&own->lock);
	return reader;
}

static ssize_t nsmod_read_iter(struct kiocb *kiocb, struct iov_iter *to)
{
	struct file *file = kiocb->ki_filp;
	struct nsmod_reader *reader = reader_of(file);

	if (IS_ERR(reader))
		return PTR_ERR(reader);
	return nsmod_reader_read(reader, to, (file->f_flags & O_NONBLOCK) || (kiocb->ki_flags & IOCB_NOWAIT));
}

static __poll_t nsmod_poll(struct file *file, poll_table *wait)
{
	struct nsmod_reader *reader = reader_of(file);

	if (IS_ERR(reader))
		return EPOLLERR;
	poll_wait(file, nsmod_reader_wait(reader), wait);
	return nsmod_reader_is_readable(reader) ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = nsmod_open,
	.release = nsmod_release,
	.unlocked_ioctl = nsmod_ioctl,
	.compat_ioctl = compat_ptr_ioctl, /* layouts are the same for 32-bit programs */
	.mmap = nsmod_mmap,
	.read_iter = nsmod_read_iter,
	.splice_read = nsmod_splice_read,
	.poll = nsmod_poll,
	.llseek = nsmod_no_llseek,
};

/* The group is set by the udev rule; before that only root may open the device. */
static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "nsmod",
	.fops = &operations,
	.mode = 0660,
};

int nsmod_device_init(void)
{
	return misc_register(&device);
}

void nsmod_device_exit(void)
{
	misc_deregister(&device);
}
