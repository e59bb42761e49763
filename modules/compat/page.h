/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MUSTER_COMPAT_PAGE_H
#define MUSTER_COMPAT_PAGE_H

#include <linux/ksm.h>
#include <linux/mm.h>

/*
 * Names an anonymous page by its object, a key that must not be followed, and
 * its index there; false when it has no such name (KSM, shmem, files). The page
 * must not be freed meanwhile. Any context.
 */
#ifdef COMPAT_HAVE_FOLIO
static inline bool compat_page_anon_name(struct page *page, u64 *object,
					 u64 *index)
{
	struct folio *folio = page_folio(page);

	if (!folio_test_anon(folio) || folio_test_ksm(folio))
		return false;
	*object = (unsigned long)READ_ONCE(folio->mapping);
	*index = folio->index + folio_page_idx(folio, page);
	return true;
}
#else
static inline bool compat_page_anon_name(struct page *page, u64 *object,
					 u64 *index)
{
	struct page *head = compound_head(page);

	if (!PageAnon(head) || PageKsm(head))
		return false;
	*object = (unsigned long)READ_ONCE(head->mapping);
	*index = head->index + (page - head);
	return true;
}
#endif

#endif
