/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions behind the files of a class, which never look at the class:
 * ssize_t show(char *buf), ssize_t store(const char *buf, size_t count).
 */
#ifndef MUSTER_COMPAT_CLASS_H
#define MUSTER_COMPAT_CLASS_H

#include <linux/device.h>

#ifdef COMPAT_HAVE_CLASS_CONST
#define COMPAT_CLASS_CONST	const
#else
#define COMPAT_CLASS_CONST
#endif

#define COMPAT_CLASS_SHOW(_name, _show)					\
static ssize_t _name(COMPAT_CLASS_CONST struct class *class,		\
		     COMPAT_CLASS_CONST struct class_attribute *attr,	\
		     char *buf)						\
{									\
	return _show(buf);						\
}

#define COMPAT_CLASS_STORE(_name, _store)				\
static ssize_t _name(COMPAT_CLASS_CONST struct class *class,		\
		     COMPAT_CLASS_CONST struct class_attribute *attr,	\
		     const char *buf, size_t count)			\
{									\
	return _store(buf, count);					\
}

#endif
