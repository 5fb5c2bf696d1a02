export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <div class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {what}…
    </div>
  );
}
