/**
 * The script of storefronts, which the pages' policy allows by its hash. Pages are complete without it: it says whether the shop is open now, and turns
 * the photos of a gallery by buttons, arrow keys and thumbnails, where without it they scroll.
 */
export const script = `(()=>{
const names=["Monday","Tuesday","Wednesday","Thursday","Friday","Saturday","Sunday"];
const clock=(m)=>String(Math.floor(m/60)%24).padStart(2,"0")+":"+String(m%60).padStart(2,"0");
function stateOf(week,zone){
const parts=Object.fromEntries(new Intl.DateTimeFormat("en-GB",{timeZone:zone,weekday:"long",hour:"2-digit",minute:"2-digit",hourCycle:"h23"}).formatToParts(new Date()).map((p)=>[p.type,p.value]));
const day=names.indexOf(parts.weekday),now=Number(parts.hour)*60+Number(parts.minute);
for(const [spans,at] of [[week[day],now],[week[(day+6)%7],now+1440]])for(const [from,to] of spans)if(at>=from&&at<to)return {open:true,text:"Open until "+clock(to)};
for(let ahead=0;ahead<8;ahead++)for(const [from] of week[(day+ahead)%7])if(ahead>0||from>now)
return {open:false,text:"Opens "+(ahead===0?"today":ahead===1?"tomorrow":names[(day+ahead)%7])+" at "+clock(from)};
}
for(const place of document.querySelectorAll("[data-week]")){
const show=()=>{try{const state=stateOf(JSON.parse(place.dataset.week),place.dataset.zone);if(state){place.textContent=state.text;place.classList.toggle("is-open",state.open)}}catch{}};
show();setInterval(show,30000);
}
for(const gallery of document.querySelectorAll(".gallery")){
const strip=gallery.querySelector(".strip"),thumbs=[...gallery.querySelectorAll(".thumbs a")],steps=[...gallery.querySelectorAll("button")],count=gallery.querySelector(".count");
if(thumbs.length===0)continue;
const at=()=>Math.round(strip.scrollLeft/strip.clientWidth);
const go=(n)=>strip.scrollTo({left:Math.max(0,Math.min(n,thumbs.length-1))*strip.clientWidth});
const show=()=>{const n=at();thumbs.forEach((one,i)=>i===n?one.setAttribute("aria-current","true"):one.removeAttribute("aria-current"));
const said=n+1+" of "+thumbs.length;if(count&&count.textContent!==said)count.textContent=said;steps[0].disabled=n===0;steps[1].disabled=n===thumbs.length-1};
thumbs.forEach((one,i)=>one.addEventListener("click",(event)=>{event.preventDefault();go(i)}));
steps.forEach((one,i)=>{one.hidden=false;one.addEventListener("click",()=>go(at()+(i===0?-1:1)))});
strip.addEventListener("keydown",(event)=>{const by={ArrowLeft:-1,ArrowRight:1}[event.key];if(by){event.preventDefault();go(at()+by)}});
strip.addEventListener("scroll",show,{passive:true});
show();
}
})()`;
