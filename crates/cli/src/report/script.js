// The page comes together: the list first, since it is what people wait for, then the pictures.

head.show();
list.show();
tables.show((name) => {
  filter.only(name);
  find('parts').scrollIntoView();
  find('search').focus({ preventScroll: true });
});
strip.show(list.reveal);
chart.show();

const isField = (element) => element instanceof HTMLInputElement || element instanceof HTMLSelectElement;

addEventListener('keydown', (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === '/' && !isField(event.target)) {
    event.preventDefault();
    find('search').focus();
    find('search').select();
  } else if (event.key === 'Escape') {
    if (tip.isShown()) {
      chart.leave();
      strip.leave();
    } else if (detail.holds(event.target)) {
      list.back();
    } else if (filter.isSet()) {
      filter.clear();
    }
  }
});

document.documentElement.dataset.ready = 'yes';
