/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of sysfs and procfs, below the directory that --sysroot names. Any may be gone at any time. */
#ifndef MUSTERCTL_FILES_H
#define MUSTERCTL_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_MAX 4200	/* a path, and more */

/* @dir must last. */
void files_set_root(const char *dir);

/* All take a format of the path, such as "sys/block/%s/size". */

/* The first line; false if it cannot be read or has no end within @size. */
__attribute__((format(printf, 3, 4)))
bool file_text(char *text, size_t size, const char *path, ...);
/* A decimal number of 64 bits and nothing else; false otherwise. */
__attribute__((format(printf, 2, 3)))
bool file_number(uint64_t *number, const char *path, ...);
__attribute__((format(printf, 1, 2)))
FILE *file_open(const char *path, ...);
__attribute__((format(printf, 1, 2)))
bool is_folder(const char *path, ...);
/*
 * What a folder holds, but for what begins with a dot, as scandir() gives it;
 * numbers in names in their order. 0 if it cannot be read.
 */
__attribute__((format(printf, 2, 3)))
size_t folder_list(struct dirent ***list, const char *path, ...);
void folder_free(struct dirent **list, size_t count);

#endif
